// What a caller learns of sending: what is refused at once, what is tried now, and who did not get it.
#include "rest_fixture.h"

namespace postino::api {
namespace {

using testing::HasSubstr;

class RestDelivery : public Rest {
 protected:
  void happen(const std::string& id, outbox::Event event) {
    auto change = decide(ledger_.find(id).value().value(), std::move(event), policy_, clock().now());
    ASSERT_TRUE(change) << change.error().message;
    std::vector<outbox::Change> changes;
    changes.push_back(*std::move(change));
    ASSERT_EQ(ledger_.move(std::move(changes)).front().status, outbox::MoveStatus::done);
  }
  void begin_sending(const std::string& id) {
    happen(id, outbox::event::MessageBuilt{"Subject: s\r\n\r\nb\r\n"});
    happen(id, outbox::event::Claimed{"worker"});
  }
};

TEST_F(RestDelivery, ASingleEmailNeedNotBeWrapped) {
  const Received answer = call("POST", "/emails", payload(R"(,"tags":["one"])"));
  ASSERT_EQ(answer.status(), 201) << answer.response.body;
  EXPECT_EQ(answer.number("/summary/total"), 1);
  EXPECT_EQ(get("/emails/" + answer.text("/results/0/id")).text("/tags/0"), "one");
  const Received wrong =
      call("POST", "/emails", R"({"from":"shop","to":"ann@example.com","subject":"s","body_text":"b"})");
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_EQ(wrong.text("/errors/0/field"), "from");
  EXPECT_EQ(call("POST", "/emails", "{}").text("/errors/0/field"), "data");
  EXPECT_EQ(call("POST", "/emails", "[" + payload() + "]").status(), 400);
}

TEST_F(RestDelivery, WrappedOrNotIsTheSameRequestUnderAKey) {
  const Headers key{{"Idempotency-Key", "k"}};
  const Received first = call("POST", "/emails", payload(), key);
  const Received second = call("POST", "/emails", batch(payload()), key);
  EXPECT_EQ(second.status(), 201) << second.response.body;
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.text("/results/0/id"), first.text("/results/0/id"));
}

TEST_F(RestDelivery, ACallbackIntoAPrivateNetworkIsRefusedAtOnce) {
  const auto rule = [&](const std::string& body, const Headers& headers) {
    const Received answer = call("POST", "/emails", body, headers);
    EXPECT_EQ(answer.status(), 400) << answer.response.body;
    return answer.text("/errors/0/field") + " " + answer.text("/errors/0/rule");
  };
  const std::string inside = payload(R"(,"callback_url":"http://127.0.0.1:8080/hook")");
  for (const Headers& headers : {Headers{}, Headers{{"Idempotency-Key", "k"}}}) {
    EXPECT_EQ(rule(batch(payload() + "," + inside), headers),
              "data[1].callback_url must not lead into a private network");
    EXPECT_EQ(rule(inside, headers), "callback_url must not lead into a private network");
  }
  const Received all = call("POST", "/emails",
                            R"({"from":"a","to":"b@c.example","subject":"s","body_text":"t",)"
                            R"("callback_url":"http://127.0.0.1/"})");
  EXPECT_EQ(all.text("/errors/0/field") + ", " + all.text("/errors/1/field"), "from, callback_url")
      << "whatever else is wrong: " << all.response.body;
  EXPECT_EQ(get("/emails/counts").number("/total"), 0) << "none of them was accepted";
  accept_one(R"(,"callback_url":"https://hooks.example/")");
}

TEST_F(RestDelivery, AWaitingEmailIsTriedNow) {
  const std::string id = accept_one();
  begin_sending(id);
  smtp::SendResult later;
  later.reply.text = "450 later";
  happen(id, outbox::event::SendingAttempted{{}, later});
  ASSERT_TRUE(ledger_.claim(outbox::Pipeline::send, 1, "worker")->emails.empty()) << "it waits";
  std::vector<outbox::Pipeline> woken;
  wake_ = [&](outbox::Pipeline pipeline) { woken.push_back(pipeline); };
  const std::string retry = "/emails/" + id + "/retry";
  EXPECT_EQ(call("POST", retry, "{}").status(), 204);
  EXPECT_THAT(woken, testing::ElementsAre(outbox::Pipeline::send));
  EXPECT_EQ(call("POST", retry).status(), 204) << "it waits no longer, and that is what was asked for";
  EXPECT_EQ(call("POST", retry, R"({"reason":"x"})").status(), 400);
  ASSERT_EQ(ledger_.claim(outbox::Pipeline::send, 1, "worker")->emails.size(), 1U);
  const Received refused = call("POST", retry);
  EXPECT_EQ(refused.code(), "WRONG_STATE");
  EXPECT_THAT(refused.text("/detail"), HasSubstr("PROCESSING"));
}

TEST_F(RestDelivery, ARetryWhoseAnswerWasLostIsNotRefused) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k"}};
  ledger_.forgets = ledger_.stays_away = true;
  EXPECT_EQ(call("POST", "/emails/" + id + "/retry", "", key).code(), "OUTCOME_UNKNOWN");
  ledger_.forgets = ledger_.stays_away = false;
  ASSERT_EQ(ledger_.claim(outbox::Pipeline::intake, 1, "worker")->emails.size(), 1U);
  EXPECT_EQ(call("POST", "/emails/" + id + "/retry").status(), 409);
  EXPECT_EQ(call("POST", "/emails/" + id + "/retry", "", key).status(), 204);
}

TEST_F(RestDelivery, ALookSaysThatARetryWasMade) {
  const std::string id = accept_one();
  ledger_.forgets = true;
  EXPECT_EQ(call("POST", "/emails/" + id + "/retry").status(), 204);
  ledger_.forgets = false;
  ledger_.stays_away = true;
  EXPECT_EQ(call("POST", "/emails/" + id + "/retry").status(), 204) << "it is known that it was made";
  ledger_.stays_away = false;
}

TEST_F(RestDelivery, WhetherAnAddressIsSuppressedMayBeUnknown) {
  suppressions_.forgets = true;
  EXPECT_EQ(call("PUT", "/suppressions/ann@example.com").code(), "OUTCOME_UNKNOWN");
  EXPECT_EQ(call("DELETE", "/suppressions/ann@example.com").code(), "OUTCOME_UNKNOWN");
  suppressions_.forgets = false;
  suppressions_.fails = true;
  EXPECT_EQ(call("PUT", "/suppressions/ann@example.com").code(), "STORE_UNAVAILABLE") << "it is not";
  suppressions_.fails = false;
}

TEST_F(RestDelivery, AReportOfWhichAPartWasTakenMayHaveBeenTaken) {
  const std::string id = accept_one();
  const std::string report =
      "From: MAILER-DAEMON@example.com\r\nMIME-Version: 1.0\r\n"
      "Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n"
      "--b\r\nContent-Type: text/plain\r\n\r\nno\r\n"
      "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n"
      "Original-Envelope-Id: " +
      id + "\r\n\r\nFinal-Recipient: rfc822; ann@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b--\r\n";
  suppressions_.fails = true;
  EXPECT_EQ(call("POST", "/bounces", report, {{"Content-Type", "message/rfc822"}}).code(), "OUTCOME_UNKNOWN")
      << "the bounce is recorded";
  suppressions_.fails = false;
  EXPECT_EQ(get("/emails/" + id).size("/bounces"), 1U);
}

TEST_F(RestDelivery, WhoDidNotGetItIsTold) {
  const std::string id = accept_one(R"(,"cc":"bob@example.com")");
  begin_sending(id);
  smtp::SendResult result;
  result.severity = smtp::Severity::success;
  result.reply = {250, "2.0.0", "250 2.0.0 ok"};
  result.recipients = {{"ann@example.com", smtp::Severity::success, result.reply},
                       {"bob@example.com", smtp::Severity::permanent, {550, "5.1.1", "550 5.1.1 no such user"}}};
  EXPECT_FALSE(get("/emails/" + id).has("/partly_sent"));
  happen(id, outbox::event::SendingAttempted{{}, result});
  const Received email = get("/emails/" + id);
  EXPECT_EQ(email.text("/status"), "SENT");
  EXPECT_EQ(email.at("/partly_sent").boolean(), true);
  EXPECT_EQ(email.text("/recipients/0/status"), "sent") << "the server took it; it is not known to be delivered";
  EXPECT_EQ(email.text("/recipients/1/status"), "refused");
  EXPECT_EQ(email.text("/reason"), "sent to 1 of 2 recipients: 550 5.1.1 no such user");
  EXPECT_EQ(get("/emails").at("/data/0/partly_sent").boolean(), true) << "lists tell it";
}

}  // namespace
}  // namespace postino::api
