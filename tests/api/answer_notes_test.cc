// Requests with an idempotency key whose server ends right after it has done them: a repeat does nothing again, and
// gets the answer, because the commit of what was done has written it down.
#include "reminders_fixture.h"
#include "store/forwarding_store.h"
#include "tickets_fixture.h"

namespace postino::api {
namespace {

// No answer is written down by itself: the server ends before it comes to that.
class EndingStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::put_item;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    const item::AttributeValue* const status = request.item.find("status");
    if (status != nullptr && *status == item::AttributeValue("COMPLETED"))
      return store::refuse(store::ErrorType::service_unavailable, "the process has ended");
    return inner().put_item(request);
  }
};

template <class Fixture>
class Ending : public Fixture {
 protected:
  // A request, and its repeat when another server may have the key.
  Received twice(const std::string& path, const std::string& body) {
    const Headers key = {{"Idempotency-Key", "key-of-" + path}};
    Received first = this->call("POST", path, body, key);
    EXPECT_LT(first.status(), 300) << path << " " << first.response.body;
    this->clock().advance(2 * guard_.lease());
    const Received again = this->call("POST", path, body, key);
    EXPECT_EQ(again.status(), first.status()) << path << " " << again.response.body;
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true") << path;
    return first;
  }

  EndingStore ending_{this->store()};
  idempotency::Guard guard_{ending_, this->clock(), this->random_, {}};
};

class RestTicketNotes : public Ending<RestTickets> {
 protected:
  RestTicketNotes() {
    ApiOptions options;
    options.tickets = &desk_;
    options.store_keys = &guard_;
    start(std::move(options));
    place_ = "/tickets/" + open();
  }
  std::size_t count(const std::string& what) { return get(place_ + what).size("/data"); }

  std::string place_;
};

TEST_F(RestTicketNotes, AreInTheCommitOfWhatATicketIsGiven) {
  twice(place_ + "/feedback", R"({"operator_id":"op_1","rating":5})");
  EXPECT_EQ(count("/feedback"), 1U);
  twice(place_ + "/attachments", R"({"name":"log.txt","content_base64":"SGVsbG8u"})");
  EXPECT_EQ(count("/attachments"), 1U);
  const Received event = twice(place_ + "/events", R"({"event_type":"call","details":{"minutes":7}})");
  EXPECT_EQ(event.number("/number"), 4);
  EXPECT_EQ(count("/events"), 4U) << "of the creation, the feedback, the attachment and the call";
}

TEST_F(RestTicketNotes, AreInTheCommitOfAMove) {
  const Received moved = twice(place_ + "/status", R"({"status":"PROCESSING","version":1})");
  EXPECT_EQ(moved.number("/version"), 2);
  EXPECT_EQ(twice(place_ + "/priority", R"({"priority":"P1","version":2})").number("/version"), 3);
  EXPECT_EQ(twice(place_ + "/escalate", R"({"engineer":"eng_1","version":3})").number("/version"), 4);
  EXPECT_EQ(twice(place_ + "/deescalate", R"({"version":4})").number("/version"), 5);
  EXPECT_EQ(count("/events"), 5U);
}

class RestReminderNotes : public Ending<RestReminders> {
 protected:
  RestReminderNotes() {
    ApiOptions options;
    options.reminders = &reminders_;
    options.store_keys = &guard_;
    start(std::move(options));
    make_customer();
  }
};

TEST_F(RestReminderNotes, AreInTheCommitOfDraftsAndDecisions) {
  const std::string draft = twice("/reminders/drafts", draft_of("cust_001")).text("/id");
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 1U);
  const std::string place = "/reminders/drafts/" + draft;
  const Received revised =
      twice(place + "/revisions", R"({"revision":1,"email_subject":"Pay now","email_content":"Dear Ada!"})");
  EXPECT_EQ(revised.number("/revision"), 2);
  const Received sent = twice(place + "/approve", R"({"revision":2,"approved_by":"ann"})");
  EXPECT_EQ(get("/reminders/customers/cust_001/history").text("/data/0/id"), sent.text("/id"));
  EXPECT_EQ(get("/emails").size("/data"), 1U);
  const std::string other = make_draft();
  twice("/reminders/drafts/" + other + "/reject", R"({"revision":1,"reason":"Ada called","rejected_by":"ann"})");
}

TEST_F(RestReminderNotes, AreInTheCommitOfPaymentsAndObjections) {
  const std::string customer = "/reminders/customers/cust_001";
  const Received sent = approve(make_draft());
  const Received part = twice(customer + "/invoices/INV-1/pay", R"({"amount":"1.00"})");
  EXPECT_EQ(part.text("/paid"), "1.00");
  EXPECT_EQ(get(customer + "/invoices/INV-1").text("/paid"), "1.00") << "it was counted twice";
  const Received complaint = twice(customer + "/complaint", R"({"reason":"Ada is angry"})");
  EXPECT_EQ(complaint.text("/cancelled_reminders/0"), sent.text("/id"));
  EXPECT_EQ(get(customer).number("/complaints"), 1);
  const Received again = call("POST", customer + "/complaint", R"({"reason":"Ada is angry"})",
                              {{"Idempotency-Key", "key-of-" + customer + "/complaint"}});
  EXPECT_EQ(again.text("/cancelled_reminders/0"), sent.text("/id")) << "what followed from the commit is told as well";
  twice(customer + "/opt-out", "{}");
  twice(customer + "/opt-in", "{}");
}

TEST_F(RestReminderNotes, AreInTheCommitOfAVersion) {
  const std::string versions = "/reminders/templates/first/versions";
  const Received added = twice(versions, R"({"subject_template":"Pay","body_template":"Dear {{customer_name}}"})");
  EXPECT_EQ(added.number("/version"), 1);
  EXPECT_EQ(get(versions).size("/data"), 1U);
}

TEST_F(RestReminderNotes, OfSeveralDraftsSayWhichAreMade) {
  const Headers key = {{"Idempotency-Key", "bulk"}};
  const std::string body = R"({"drafts":[)" + draft_of("cust_001") + "," + draft_of("cust_001", "second") + "]}";
  const Received first = call("POST", "/reminders/drafts/bulk", body, key);
  ASSERT_EQ(first.number("/summary/successful"), 2) << first.response.body;
  clock().advance(2 * guard_.lease());
  const Received again = call("POST", "/reminders/drafts/bulk", body, key);
  ASSERT_EQ(again.number("/summary/successful"), 2) << again.response.body;
  for (const std::string place : {"/results/0/draft/id", "/results/1/draft/id"})
    EXPECT_EQ(again.text(place), first.text(place));
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 2U);
}

// An approval that another caller was faster with is refused, and its key is not used up.
TEST_F(RestReminderNotes, AreNotWrittenWithoutWhatTheyTellOf) {
  const std::string draft = make_draft();
  const std::string place = "/reminders/drafts/" + draft + "/approve";
  const Headers key = {{"Idempotency-Key", "late"}};
  ASSERT_EQ(approve(draft).status(), 200);
  for (int i = 0; i < 2; ++i) {
    const Received refused = call("POST", place, R"({"revision":1})", key);
    EXPECT_EQ(refused.status(), 409);
    EXPECT_EQ(refused.code(), "WRONG_REMINDER_STATE");
  }
}

}  // namespace
}  // namespace postino::api
