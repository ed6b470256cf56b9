// Tickets by the REST API.
#include "base/base64.h"
#include "tickets_fixture.h"

namespace postino::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

TEST_F(RestTickets, AreOpenedOncePerKey) {
  const Headers key{{"Idempotency-Key", "k-1"}};
  const Received first = call("POST", "/tickets", ticket_body(), key);
  ASSERT_EQ(first.status(), 202) << first.response.body;
  EXPECT_EQ(first.text("/status"), "NEW");
  EXPECT_EQ(first.text("/status_url"), "/tickets/" + first.text("/ticket_id"));
  EXPECT_EQ(first.header("Location"), first.text("/status_url"));
  const Received again = call("POST", "/tickets", ticket_body(), key);
  EXPECT_EQ(again.response.body, first.response.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  const Received other = call("POST", "/tickets", ticket_body("cust_2"), key);
  EXPECT_EQ(other.status(), 422);
  EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_REUSED");
  EXPECT_EQ(listed("").size(), 1U);
  const Received shown = get("/tickets/" + first.text("/ticket_id"));
  EXPECT_EQ(shown.text("/customer/contact_email"), "ada@example.org");
  EXPECT_EQ(shown.text("/data/symptom_text"), "It restarts every ten minutes.");
  EXPECT_EQ(shown.number("/version"), 1);
}

TEST_F(RestTickets, FaultsNameFieldAndRule) {
  const Received empty = call("POST", "/tickets", "{}");
  EXPECT_EQ(empty.status(), 400);
  EXPECT_THAT(empty.response.body, HasSubstr(R"({"field":"customer","rule":"is required"})"));
  EXPECT_THAT(empty.response.body, HasSubstr(R"("field":"symptom_text")"));
  const Received wrong =
      call("POST", "/tickets", ticket_body("", R"(,"priority":"P9","letter":{"subject":"","text":"x"},"extra":1)"));
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_THAT(wrong.response.body, HasSubstr(R"("field":"extra")"));
  const Received rules = call("POST", "/tickets", ticket_body("", R"(,"priority":"P9")"));
  EXPECT_THAT(rules.response.body, HasSubstr(R"("field":"customer.id")"));
  EXPECT_THAT(rules.response.body, HasSubstr(R"("field":"priority")"));
  EXPECT_EQ(listed("").size(), 0U);
}

TEST_F(RestTickets, MarkupIsTextAndControlCharactersAreRefused) {
  const std::string markup = R"(<script>alert(\"x\")</script> & {{7*7}} ' OR 1=1 --)";
  const Received created = call("POST", "/tickets", R"({"customer":{"id":"c<b>"},"symptom_text":")" + markup + R"("})");
  ASSERT_EQ(created.status(), 202) << created.response.body;
  const Received shown = get("/tickets/" + created.text("/ticket_id"));
  EXPECT_EQ(shown.text("/symptom_text"), "<script>alert(\"x\")</script> & {{7*7}} ' OR 1=1 --");
  EXPECT_EQ(shown.text("/customer/id"), "c<b>");
  EXPECT_EQ(shown.header("X-Content-Type-Options"), "nosniff");
  for (const std::string field : {"symptom_text", "error_code", "lang"}) {
    const Received refused = call(
        "POST", "/tickets", R"({"customer":{"id":"c"},"symptom_text":"long enough to be one",")" + field + R"(2":1})");
    EXPECT_EQ(refused.status(), 400);
  }
  for (const std::string text :
       {R"(a bell \u0007 in the text)", R"(an escape \u001b[2J here)", R"(a zero \u0000 byte)"}) {
    EXPECT_EQ(call("POST", "/tickets", R"({"customer":{"id":"c"},"symptom_text":")" + text + R"("})").status(), 400);
    EXPECT_EQ(call("POST", "/tickets/" + created.text("/ticket_id") + "/feedback",
                   R"({"operator_id":"o","rating":1,"comments":")" + text + R"("})")
                  .status(),
              400);
    EXPECT_EQ(move(created.text("/ticket_id"), R"({"status":"PROCESSING","reason":")" + text + R"("})").status(), 400);
  }
}

TEST_F(RestTickets, TakeTextsOfOneLineWithoutLineEndsOfAnyKind) {
  const std::string id = open();
  for (const std::string end : {R"(\n)", R"(\u0085)", R"(\u009b)", R"(\u2028)", R"(\u2029)"}) {
    EXPECT_EQ(move(id, R"({"status":"PROCESSING","by":"ann)" + end + R"(bob"})").status(), 400) << end;
    EXPECT_EQ(
        call("POST", "/tickets", R"({"customer":{"id":"c","name":"Ada)" + end + R"("},"symptom_text":"It is broken."})")
            .status(),
        400)
        << end;
  }
  for (const std::string end : {"%0A", "%C2%85", "%E2%80%A8"}) {
    EXPECT_EQ(get("/tickets?customer_id=a" + end).status(), 400) << end;
    EXPECT_EQ(get("/tickets/" + id + end).status(), 400) << end;
  }
}

TEST_F(RestTickets, MoveFromTheVersionThatWasSeen) {
  const std::string id = open();
  const Received moved = move(id, R"({"status":"PROCESSING","version":1,"by":"ann"})");
  ASSERT_EQ(moved.status(), 200) << moved.response.body;
  EXPECT_EQ(moved.text("/status"), "PROCESSING");
  EXPECT_EQ(moved.number("/version"), 2);
  const Received late = move(id, R"({"status":"READY","version":1})");
  EXPECT_EQ(late.status(), 409);
  EXPECT_EQ(late.code(), "OTHER_VERSION");
  EXPECT_EQ(late.number("/current_version"), 2);
  EXPECT_EQ(late.text("/current_status"), "PROCESSING");
  EXPECT_EQ(move(id, R"({"status":"READY","seen_status":"NEW"})").code(), "OTHER_VERSION");
  const Received ready = move(id, R"({"status":"READY","version":2,"reason":"It was the cable."})");
  EXPECT_EQ(ready.text("/status_reason"), "It was the cable.");
  EXPECT_TRUE(ready.has("/completed_at"));
  const Received illegal = move(id, R"({"status":"PROCESSING"})");
  EXPECT_EQ(illegal.status(), 409);
  EXPECT_EQ(illegal.code(), "WRONG_TICKET_STATE");
  EXPECT_EQ(illegal.text("/current_status"), "READY");
  EXPECT_EQ(move("tkt_none", R"({"status":"READY"})").code(), "TICKET_NOT_FOUND");
  const Received events = get("/tickets/" + id + "/events?order=oldest");
  ASSERT_EQ(events.size("/data"), 3U) << events.response.body;
  EXPECT_EQ(events.text("/data/1/by"), "ann");
  EXPECT_EQ(events.text("/data/2/new_status"), "READY");
}

TEST_F(RestTickets, AreCountedByStatus) {
  start_tickets({"boss:operator:boss-secret-0123456789", "c1:customer/c1:first-secret-0123456789",
                 "acme:agent@acme:other-secret-0123456789"});
  const auto as = [](const std::string& secret) { return Headers{{"X-API-Key", secret}}; };
  const Headers boss = as("boss-secret-0123456789");
  open("c1", "", boss);
  open("c2", "", boss);
  ASSERT_EQ(move(open("c2", "", boss), R"({"status":"PROCESSING"})", boss).status(), 200);
  const Received all = get("/tickets/counts", boss);
  ASSERT_EQ(all.status(), 200) << all.response.body;
  EXPECT_EQ(all.number("/by_status/NEW"), 2);
  EXPECT_EQ(all.number("/by_status/PROCESSING"), 1);
  EXPECT_EQ(all.number("/by_status/ESCALATED"), 0);
  EXPECT_EQ(all.number("/total"), 3);
  EXPECT_FALSE(all.has("/at_least"));
  EXPECT_TRUE(all.has("/as_of"));
  EXPECT_EQ(get("/tickets/counts", as("first-secret-0123456789")).number("/total"), 1) << "of the customer alone";
  EXPECT_EQ(get("/tickets/counts", as("other-secret-0123456789")).number("/total"), 0);
}

TEST_F(RestTickets, RepeatedMovesWithAKeyAreOne) {
  const std::string id = open();
  const Headers key{{"Idempotency-Key", "move-1"}};
  const Received first = move(id, R"({"status":"PROCESSING","version":1})", key);
  ASSERT_EQ(first.status(), 200);
  const Received again = move(id, R"({"status":"PROCESSING","version":1})", key);
  EXPECT_EQ(again.status(), 200) << again.response.body;
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.number("/version"), 2);
}

TEST_F(RestTickets, AreEscalatedAndTakenBack) {
  const std::string first = open(), second = open();
  for (const std::string& id : {first, second}) ASSERT_EQ(move(id, R"({"status":"PROCESSING"})").status(), 200);
  EXPECT_EQ(call("POST", "/tickets/" + first + "/escalate", R"({"reason":"hard"})").status(), 400);
  const Received escalated =
      call("POST", "/tickets/" + first + "/escalate", R"({"engineer":"eng_1","reason":"hard","version":2})");
  ASSERT_EQ(escalated.status(), 200) << escalated.response.body;
  EXPECT_EQ(escalated.text("/assigned_to"), "eng_1");
  ASSERT_EQ(call("POST", "/tickets/" + second + "/escalate", R"({"engineer":"eng_2"})").status(), 200);
  EXPECT_THAT(ids(get("/tickets/escalated")), UnorderedElementsAre(first, second));
  EXPECT_THAT(ids(get("/tickets/escalated?engineer=eng_2")), ElementsAre(second));
  const Received back = call("POST", "/tickets/" + first + "/deescalate");
  ASSERT_EQ(back.status(), 200) << back.response.body;
  EXPECT_FALSE(back.has("/escalated_at"));
  EXPECT_THAT(ids(get("/tickets/escalated")), ElementsAre(second));
  EXPECT_EQ(call("POST", "/tickets/" + first + "/deescalate").code(), "WRONG_TICKET_STATE");
}

TEST_F(RestTickets, AreFoundByEveryFilter) {
  const std::string first = open("cust_1", R"(,"priority":"P1")");
  const std::string second = open("cust_2");
  ASSERT_EQ(move(second, R"({"status":"PROCESSING"})").status(), 200);
  EXPECT_THAT(listed(""), UnorderedElementsAre(first, second));
  EXPECT_THAT(listed("?customer_id=cust_1"), ElementsAre(first));
  EXPECT_THAT(listed("?customer_id=cust_1&status=READY"), IsEmpty());
  EXPECT_THAT(listed("?status=PROCESSING"), ElementsAre(second));
  EXPECT_THAT(listed("?priority=P1"), ElementsAre(first));
  EXPECT_THAT(listed("?product_type=router&status=NEW"), ElementsAre(first));
  EXPECT_THAT(listed("?error_code=E42&customer_id=cust_2"), ElementsAre(second));
  EXPECT_THAT(listed("?error_code=E43"), IsEmpty());
  EXPECT_THAT(listed("?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z"), IsEmpty());
  const std::string today = get("/tickets/" + first).text("/created_at").substr(0, 10);
  EXPECT_THAT(listed("?since=" + today + "&until=" + today), UnorderedElementsAre(first, second));
  EXPECT_THAT(listed("?until=2020-01-01"), IsEmpty());
  EXPECT_EQ(get("/tickets?since=2020-13-01").text("/errors/0/field"), "since");
  EXPECT_EQ(get("/tickets?since=2020-01-02&until=2020-01-01").text("/errors/0/field"), "until");
  EXPECT_EQ(get("/tickets?priority=P9").status(), 400);
  EXPECT_EQ(get("/tickets?status=BROKEN").status(), 400);
  EXPECT_EQ(get("/tickets?limit=101").status(), 400);
  EXPECT_EQ(get("/tickets?cursor=nonsense").status(), 400);
  EXPECT_THAT(ids(get("/tickets/batch?ids=" + second + ",tkt_none," + first)), ElementsAre(second, first));
  EXPECT_EQ(get("/tickets/batch").status(), 400);
}

TEST_F(RestTickets, EmptyOptionalFieldsAreAsIfAbsent) {
  const std::string id =
      open("cust_1", R"(,"priority":"","lang":"","letter":{"kind":"","subject":"Hello","text":"We look into it.",
                         "html":"","key":""})");
  EXPECT_EQ(get("/tickets/" + id).text("/priority"), "P3");
  EXPECT_EQ(get("/tickets/" + id + "/emails").text("/data/0/kind"), "answer");
  EXPECT_EQ(move(id, R"({"status":"PROCESSING","seen_status":"","reason":"","engineer":"","by":""})").status(), 200);
}

// A program that has lost the value would be given everything.
TEST_F(RestTickets, AreNotFilteredByNothing) {
  open();
  for (const std::string path : {"/tickets?customer_id=", "/tickets?status=", "/tickets?priority=",
                                 "/tickets?product_type=", "/tickets?error_code", "/tickets/escalated?engineer="}) {
    const Received refused = get(path);
    EXPECT_EQ(refused.status(), 400) << path;
    EXPECT_THAT(refused.text("/detail"), HasSubstr("must not be empty")) << path;
  }
  EXPECT_EQ(listed("?cursor=").size(), 1U) << "an empty cursor is the first page";
}

// What other programs wrote without a zone is told with one.
TEST_F(RestTickets, TimesOfOtherProgramsEndInZ) {
  const std::string id = open();
  const auto put = [this](item::Item item) {
    store::PutItemRequest request;
    request.table_name = "prod-tickets-unified";
    request.item = std::move(item);
    ASSERT_TRUE(store().put_item(request));
  };
  put({{"PK", "TICKET#" + id},
       {"SK", "FEEDBACK#2026-01-02T03:04:05.123456"},
       {"operator_id", "o"},
       {"rating", 2},
       {"data", item::Map{{"rating", 2}}}});
  put({{"PK", "IDEMPOTENCY#theirs"},
       {"SK", "METADATA"},
       {"ticket_id", id},
       {"created_at", "2026-01-02T03:04:05.123456"},
       {"ttl", base::epoch_seconds(clock().now()) + 1'000}});
  EXPECT_EQ(get("/tickets/" + id + "/feedback").text("/data/0/submitted_at"), "2026-01-02T03:04:05.123456Z");
  const Received again = call("POST", "/tickets", ticket_body(), {{"Idempotency-Key", "theirs"}});
  EXPECT_EQ(again.text("/created_at"), "2026-01-02T03:04:05.123456Z");
}

TEST_F(RestTickets, NameAnEMailWhoseHeaderIsTooLarge) {
  const std::string email = "Message-ID: <a@b>\r\nX-Long: " + std::string(200'000, 'x') + "\r\n\r\nText\r\n";
  const Received refused =
      call("POST", "/tickets/answers", R"({"message_base64":")" + base::to_base64(email) + R"("})");
  EXPECT_EQ(refused.status(), 400);
  EXPECT_EQ(refused.text("/errors/0/field"), "message_base64");
}

TEST_F(RestTickets, ArePaged) {
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) made.push_back(open());
  std::vector<std::string> found;
  std::string cursor;
  do {
    const Received page = get("/tickets?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    for (const std::string& id : ids(page)) found.push_back(id);
    cursor = page.at("/cursor").is_null() ? "" : page.text("/cursor");
  } while (!cursor.empty());
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(made));
}

TEST_F(RestTickets, HaveFeedback) {
  const std::string id = open();
  const Headers key{{"Idempotency-Key", "rate-1"}};
  const std::string body = R"({"operator_id":"op_1","rating":5,"was_helpful":true,"comments":"Thanks"})";
  const Received added = call("POST", "/tickets/" + id + "/feedback", body, key);
  ASSERT_EQ(added.status(), 201) << added.response.body;
  const Received again = call("POST", "/tickets/" + id + "/feedback", body, key);
  EXPECT_EQ(again.response.body, added.response.body);
  EXPECT_EQ(call("POST", "/tickets/" + id + "/feedback", R"({"operator_id":"op_1","rating":6})").status(), 400);
  const Received with = get("/tickets/" + id + "/feedback");
  EXPECT_EQ(with.text("/ticket/ticket_id"), id);
  ASSERT_EQ(with.size("/data"), 1U);
  EXPECT_EQ(with.number("/data/0/rating"), 5);
  EXPECT_EQ(get("/tickets/feedback?operator_id=op_1").size("/data"), 1U);
  EXPECT_EQ(get("/tickets/feedback").status(), 400);
}

TEST_F(RestTickets, HaveEventsOfCallersOwn) {
  const std::string id = open();
  const Received added =
      call("POST", "/tickets/" + id + "/events", R"({"event_type":"called","details":{"minutes":7},"by":"ann"})");
  ASSERT_EQ(added.status(), 201) << added.response.body;
  EXPECT_EQ(added.number("/number"), 2);
  EXPECT_EQ(added.number("/details/minutes"), 7);
  EXPECT_EQ(get("/tickets/" + id + "/events?limit=1").text("/data/0/event_type"), "called");
  EXPECT_EQ(get("/tickets/" + id + "/events?until=2001-01-01").size("/data"), 0U);
  EXPECT_EQ(get("/tickets/" + id + "/events?since=yesterday").text("/errors/0/field"), "since");
  EXPECT_EQ(get("/tickets/" + id + "/events?order=any").status(), 400);
}

TEST_F(RestTickets, SendEmailsAndTakeAnswers) {
  const std::string id =
      open("cust_1", R"(,"letter":{"kind":"acknowledgement","subject":"[{ticket_id}]","text":"Hi"})");
  const Headers key{{"Idempotency-Key", "mail-1"}};
  const std::string letter = R"({"subject":"News of {ticket_id}","text":"It is {status}.","by":"ann"})";
  const Received sent = call("POST", "/tickets/" + id + "/emails", letter, key);
  ASSERT_EQ(sent.status(), 201) << sent.response.body;
  EXPECT_EQ(sent.text("/subject"), "News of " + id);
  EXPECT_EQ(sent.text("/to/0"), "ada@example.org");
  const Received again = call("POST", "/tickets/" + id + "/emails", letter, key);
  EXPECT_EQ(again.text("/message_id"), sent.text("/message_id"));
  const std::string answer =
      R"({"headers":"Message-ID: <a1@example.org>\r\nFrom: ada@example.org\r\nSubject: Re\r\nIn-Reply-To: <)" +
      sent.text("/message_id") + R"(>\r\n","text":"It works again."})";
  const Received received = call("POST", "/tickets/answers", answer);
  ASSERT_EQ(received.status(), 201) << received.response.body;
  EXPECT_EQ(received.text("/ticket_id"), id);
  EXPECT_EQ(call("POST", "/tickets/answers", answer).header("Idempotent-Replayed"), "true");
  const Received emails = get("/tickets/" + id + "/emails");
  EXPECT_EQ(emails.size("/data"), 3U) << emails.response.body;
  const Received stranger = call("POST", "/tickets/answers", R"({"headers":"In-Reply-To: <x@y>\r\n","text":"?"})");
  EXPECT_EQ(stranger.status(), 404);
  EXPECT_EQ(stranger.code(), "UNKNOWN_ANSWER");
  EXPECT_EQ(get("/emails?tag=support").size("/data"), 2U);
}

TEST_F(RestTickets, PriorityChangesWithAnEvent) {
  const std::string id = open();
  const Received changed = call("POST", "/tickets/" + id + "/priority", R"({"priority":"P1","version":1})");
  ASSERT_EQ(changed.status(), 200) << changed.response.body;
  EXPECT_EQ(changed.text("/priority"), "P1");
  EXPECT_THAT(listed("?priority=P1"), ElementsAre(id));
  EXPECT_EQ(call("POST", "/tickets/" + id + "/priority", R"({"priority":"P5"})").status(), 400);
}

constexpr std::string_view operator_key = "boss:operator:boss-secret-0123456789";
constexpr std::string_view agent_key = "ann:agent:ann-secret-0123456789";
constexpr std::string_view acme_key = "acme:agent@acme:acme-secret-0123456789";
constexpr std::string_view first_key = "c1:customer/cust_1:first-secret-0123456789";
constexpr std::string_view second_key = "c2:customer/cust_2:second-secret-0123456789";
constexpr std::string_view reader_key = "r:reader:reader-secret-0123456789";
Headers as(std::string_view key) { return with_secret(std::string(key.substr(key.rfind(':') + 1))); }

TEST_F(RestTickets, OfOthersDoNotExist) {
  start_tickets({operator_key, agent_key, acme_key, first_key, second_key, reader_key});
  const std::string id = open("cust_1", "", as(first_key));
  const std::string other = open("cust_2", "", as(second_key));
  EXPECT_EQ(call("POST", "/tickets", ticket_body("cust_2"), as(first_key)).status(), 400);
  EXPECT_THAT(listed("", as(first_key)), ElementsAre(id));
  EXPECT_THAT(listed("?customer_id=cust_2", as(first_key)), IsEmpty());
  EXPECT_THAT(listed("?error_code=E42", as(first_key)), ElementsAre(id));
  EXPECT_THAT(listed("", as(acme_key)), IsEmpty());
  EXPECT_THAT(listed("", as(agent_key)), UnorderedElementsAre(id, other));
  EXPECT_THAT(ids(get("/tickets/batch?ids=" + id + "," + other, as(second_key))), ElementsAre(other));
  for (const std::string_view key : {second_key, acme_key})
    for (const std::string path : {"", "/feedback", "/events", "/emails"}) {
      const Received absent = get("/tickets/tkt_absent" + path, as(key));
      const Received hidden = get("/tickets/" + id + path, as(key));
      EXPECT_EQ(hidden.status(), 404) << path;
      EXPECT_EQ(hidden.code(), absent.code()) << path;
      EXPECT_EQ(hidden.text("/title"), absent.text("/title")) << path;
    }
  EXPECT_EQ(call("POST", "/tickets/" + id + "/feedback", R"({"operator_id":"o","rating":1})", as(second_key)).status(),
            404);
  // A cursor of one is none of the other's.
  for (int i = 0; i < 2; ++i) open("cust_1", "", as(first_key));
  const std::string cursor = get("/tickets?limit=1", as(first_key)).text("/cursor");
  EXPECT_EQ(get("/tickets?limit=1&cursor=" + cursor, as(second_key)).status(), 400);
  EXPECT_EQ(get("/tickets?limit=1&cursor=" + cursor, as(agent_key)).status(), 400);
}

TEST_F(RestTickets, CustomersDoNotWorkOnThem) {
  start_tickets({operator_key, agent_key, first_key, reader_key});
  const std::string id = open("cust_1", "", as(first_key));
  EXPECT_EQ(move(id, R"({"status":"PROCESSING"})", as(first_key)).status(), 403);
  EXPECT_EQ(move(id, R"({"status":"PROCESSING"})", as(reader_key)).status(), 403);
  EXPECT_EQ(get("/tickets/" + id, as(reader_key)).status(), 403);
  EXPECT_EQ(get("/emails", as(first_key)).status(), 403);
  const Received moved = move(id, R"({"status":"PROCESSING"})", as(agent_key));
  EXPECT_EQ(moved.status(), 200) << moved.response.body;
  EXPECT_EQ(get("/tickets/" + id + "/events", as(agent_key)).text("/data/0/by"), "ann");
  EXPECT_FALSE(get("/tickets/" + id + "/events", as(first_key)).has("/data/0/by")) << "who works on it is internal";
  // Nor do they send e-mails: one chooses neither the text nor the address of what goes out in our name.
  const Received relayed =
      call("POST", "/tickets", ticket_body("cust_1", R"(,"letter":{"subject":"s","text":"t"})"), as(first_key));
  EXPECT_EQ(relayed.status(), 400);
  EXPECT_THAT(relayed.response.body, HasSubstr(R"("field":"letter")"));
}

// The records of keys are kept by whom they belong to.
TEST_F(RestTickets, KeysOfOtherCustomersAreOthers) {
  start_tickets(
      {"c1:customer@acme/cust_1:first-secret-0123456789", "c2:customer@acme/cust_2:second-secret-0123456789"});
  Headers first = as(first_key), second = as(second_key);
  for (Headers* headers : {&first, &second}) headers->emplace_back("Idempotency-Key", "same");
  const std::string id = open("cust_1", "", first);
  const std::string other = open("cust_2", "", second);
  EXPECT_NE(id, other);
  const std::string body = R"({"operator_id":"o","rating":1,"comments":"mine"})";
  ASSERT_EQ(call("POST", "/tickets/" + id + "/feedback", body, first).status(), 201);
  const Received guess = call("POST", "/tickets/" + id + "/feedback", body, second);
  EXPECT_EQ(guess.status(), 404);
  EXPECT_THAT(guess.response.body, Not(HasSubstr("mine")));
}

class RestTicketsWithOwnLetters : public RestTickets {
 protected:
  RestTicketsWithOwnLetters()
      : RestTickets({.from = "Support <support@example.com>", .acknowledges = true}),
        sessions_(store(), {}, clock(), random_, retry_) {}
  ~RestTicketsWithOwnLetters() override { start({}); }  // the API goes before its sessions

  std::vector<std::string> kinds(const std::string& id, std::string_view key) {
    std::vector<std::string> found;
    const Received emails = get("/tickets/" + id + "/emails", as(key));
    for (std::size_t i = 0; i < emails.size("/data"); ++i)
      found.push_back(emails.text("/data/" + std::to_string(i) + "/kind"));
    return found;
  }

  access::Sessions sessions_;
};

// What bound callers do makes the desk write e-mails, to which they have no right themselves.
TEST_F(RestTicketsWithOwnLetters, GoOutForCallersThatAreBoundToACustomer) {
  constexpr std::string_view of_acme = "ca:customer@acme/cust_1:acme-customer-0123456789";
  constexpr std::string_view bound_operator = "bo:operator/cust_1:bound-operator-0123456789";
  start_tickets({operator_key, acme_key, first_key, of_acme, bound_operator}, &sessions_);
  const Received session =
      call("POST", "/sessions", R"({"api_key":")" + std::string(first_key.substr(first_key.rfind(':') + 1)) + R"("})");
  ASSERT_EQ(session.status(), 201) << session.response.body;
  for (const Headers& headers : {as(first_key), as(of_acme), as(bound_operator), with_secret(session.text("/token"))}) {
    const std::string id = open("cust_1", "", headers);
    const bool is_of_acme = headers == as(of_acme);
    EXPECT_THAT(kinds(id, is_of_acme ? acme_key : operator_key), ElementsAre("acknowledgement"));
  }
  EXPECT_EQ(get("/emails", as(operator_key)).size("/data"), 4U);
}

class RestTicketsWithoutSender : public RestTickets {
 protected:
  RestTicketsWithoutSender() : RestTickets(support::LetterRules{}) {}
};

TEST_F(RestTicketsWithoutSender, SendNothing) {
  const std::string id = open();
  const Received refused = call("POST", "/tickets/" + id + "/emails", R"({"subject":"s","text":"t"})");
  EXPECT_EQ(refused.status(), 409);
  EXPECT_EQ(refused.code(), "NO_SENDER");
  EXPECT_THAT(refused.text("/detail"), HasSubstr("--tickets-from"));
}

class RestWithoutTickets : public Rest {};

TEST_F(RestWithoutTickets, SaysSo) {
  EXPECT_EQ(get("/tickets").code(), "NO_TICKETS");
  EXPECT_EQ(get("/tickets/tkt_1").status(), 404);
}

}  // namespace
}  // namespace postino::api
