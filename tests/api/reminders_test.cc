// Payment reminders by the REST API, over the real services on the embedded store.
#include <latch>

#include "reminders_fixture.h"

namespace postino::api {
namespace {

using testing::HasSubstr;

class RestOtherPerson : public RestReminders {
 protected:
  RestOtherPerson() : RestReminders(true) {}
};

class RestWithoutSender : public RestReminders {
 protected:
  RestWithoutSender() : RestReminders(false, "") {}
};

TEST_F(RestWithoutSender, WhatIsMissingIsToldToDrafterAndApprover) {
  make_customer();
  const std::string id = make_draft();
  EXPECT_THAT(get("/reminders/drafts/" + id).text("/stopped"), HasSubstr("reminders.from"));
  EXPECT_THAT(get("/reminders/drafts").text("/data/0/stopped"), HasSubstr("reminders.from"));
  const Received refused = approve(id);
  EXPECT_EQ(refused.status(), 409) << refused.response.body;
  EXPECT_EQ(refused.code(), "NO_SENDER");
  EXPECT_THAT(refused.text("/detail"), HasSubstr("configure reminders.from (--reminders-from)"));

  ASSERT_EQ(call("PUT", "/reminders/brandings/brand", R"({"from":"billing@example.com"})").status(), 200);
  ASSERT_EQ(call("POST", "/reminders/templates/first/versions",
                 R"({"subject_template":"Hello","body_template":"Pay","branding":"brand"})")
                .status(),
            201);
  const Received draft =
      call("POST", "/reminders/drafts", R"({"customer_id":"cust_001","reminder_type":"first","template_id":"first"})");
  EXPECT_THAT(draft.response.body, testing::Not(HasSubstr("stopped")));
  EXPECT_EQ(approve(draft.text("/id")).status(), 200);
}

TEST_F(RestReminders, ADraftIsApprovedAndAcceptedByTheOutbox) {
  make_customer();
  const std::string id = make_draft();
  const Received draft = get("/reminders/drafts/" + id);
  EXPECT_EQ(draft.text("/status"), "draft");
  EXPECT_EQ(draft.text("/created_by"), "ai_system");
  EXPECT_EQ(draft.text("/overdue_amount"), "1500.00");
  EXPECT_EQ(draft.text("/decision/rule"), "allowed");
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 1U);

  const Received sent = approve(id);
  ASSERT_EQ(sent.status(), 200) << sent.response.body;
  EXPECT_EQ(sent.text("/approved_by"), "ann");
  EXPECT_EQ(sent.text("/email_content"), "Dear Ada, please pay.");
  EXPECT_EQ(get("/emails/" + sent.text("/email_id")).text("/subject"), "Please pay");
  EXPECT_EQ(get("/reminders/drafts/" + id).text("/status"), "approved");
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 0U);
  EXPECT_EQ(get("/reminders/customers/cust_001/history").text("/data/0/id"), sent.text("/id"));
  EXPECT_EQ(get("/reminders/customers/cust_001/history/" + sent.text("/id")).status(), 200);
  EXPECT_EQ(get("/reminders/sent?reminder_type=first").size("/data"), 1U);
}

TEST_F(RestReminders, WhatWasDecidedIsRefusedWithItsState) {
  make_customer();
  const std::string id = make_draft();
  ASSERT_EQ(approve(id).status(), 200);
  const Received again = approve(id);
  EXPECT_EQ(again.status(), 409);
  EXPECT_EQ(again.code(), "WRONG_REMINDER_STATE");
  EXPECT_EQ(get("/emails").size("/data"), 1U);
}

TEST_F(RestReminders, AnOldRevisionIsRefusedWithTheCurrentOne) {
  make_customer();
  const std::string id = make_draft();
  const Received revised =
      call("POST", "/reminders/drafts/" + id + "/revisions",
           R"({"revision":1,"email_subject":"Please pay soon","email_content":"Dear Ada.","revised_by":"bob"})");
  ASSERT_EQ(revised.status(), 201) << revised.response.body;
  EXPECT_EQ(revised.number("/revision"), 2);
  const Received old = approve(id, 1);
  EXPECT_EQ(old.status(), 409);
  EXPECT_EQ(old.code(), "OTHER_REVISION");
  EXPECT_EQ(old.number("/current_revision"), 2);
  EXPECT_EQ(old.text("/errors/0/field"), "revision");
  EXPECT_EQ(get("/reminders/drafts/" + id + "/revisions").size("/data"), 2U);
  const Received diff = get("/reminders/drafts/" + id + "/diff");
  EXPECT_EQ(diff.text("/email_subject/0"), "-Please pay");
  EXPECT_EQ(diff.text("/email_subject/1"), "+Please pay soon");
  EXPECT_EQ(get("/emails").size("/data"), 0U);
}

TEST_F(RestReminders, ARevisionThatAnotherProgramMadeCanBeNamedHoweverManyThereWere) {
  make_customer();
  const std::string id = make_draft();
  store::UpdateItemRequest update;
  update.table_name = "EmailTrackingTable";
  update.key = {{"PK", "CUSTOMER#cust_001"}, {"SK", "DRAFT#" + id}};
  update.update = "SET revision = :many, email_content = :text";
  update.placeholders.values = item::Map{{":many", 100}, {":text", "Dear Ada, once more."}};
  ASSERT_TRUE(store().update_item(update));
  EXPECT_EQ(get("/reminders/drafts/" + id).number("/revision"), 101);
  const Received sent = approve(id, 101);
  ASSERT_EQ(sent.status(), 200) << sent.response.body;
  EXPECT_EQ(sent.text("/email_content"), "Dear Ada, once more.");
}

TEST_F(RestReminders, ARuleIsToldWithTheTimeFromWhichItAllows) {
  make_customer();
  ASSERT_EQ(approve(make_draft()).status(), 200);
  const Received second = approve(make_draft());
  EXPECT_EQ(second.status(), 409);
  EXPECT_EQ(second.code(), "REMINDER_RULE");
  EXPECT_EQ(second.text("/rule"), "too_soon");
  EXPECT_EQ(second.text("/allowed_from"), "2026-01-09T03:04:05.000Z");
  const Received dry = get("/reminders/check?customer_id=cust_001&reminder_type=first");
  EXPECT_EQ(dry.text("/decision/rule"), "too_soon");
  EXPECT_EQ(dry.size("/decision/rests_on"), 1U);
  EXPECT_EQ(get("/emails").size("/data"), 1U);
}

TEST_F(RestReminders, BlanksNameNobody) {
  make_customer();
  const std::string id = make_draft();
  const auto field_of = [&](const std::string& path, const std::string& fields) {
    const Received answer = call("POST", path, "{" + fields + "}");
    EXPECT_EQ(answer.status(), 400) << answer.response.body;
    EXPECT_EQ(answer.text("/errors/0/rule"), "must not be blank");
    return answer.text("/errors/0/field");
  };
  const std::string text = R"("email_subject":"s","email_content":"c",)";
  const std::string draft = R"({"customer_id":"cust_001","reminder_type":"first",)" + text + R"("created_by":" "})";
  const std::string of_draft = "/reminders/drafts/" + id;
  EXPECT_EQ(field_of("/reminders/drafts", draft.substr(1, draft.size() - 2)), "created_by");
  EXPECT_EQ(field_of("/reminders/drafts/bulk", R"("drafts":[)" + draft + "]"), "drafts[0].created_by");
  EXPECT_EQ(field_of(of_draft + "/revisions", R"("revision":1,)" + text + R"("revised_by":"  ")"), "revised_by");
  EXPECT_EQ(field_of(of_draft + "/approve", R"("revision":1,"approved_by":" ")"), "approved_by");
  EXPECT_EQ(field_of(of_draft + "/approve", R"("revision":1,"approved_by":"\u00a0")"), "approved_by");
  EXPECT_EQ(field_of(of_draft + "/reject", R"("revision":1,"reason":"no","rejected_by":" ")"), "rejected_by");
  EXPECT_EQ(
      field_of("/reminders/templates/t/versions", R"("subject_template":"s","body_template":"b","created_by":" ")"),
      "created_by");
}

TEST_F(RestReminders, DraftsInBulkHaveTheirActorsInTheAudit) {
  make_customer();
  ASSERT_EQ(call("POST", "/reminders/drafts/bulk", R"({"drafts":[)" + draft_of("cust_001") + "]}").status(), 200);
  make_draft();
  const Received events = get("/reminders/audit?subject=drafts/");
  ASSERT_EQ(events.size("/data"), 2U);
  EXPECT_EQ(events.text("/data/0/actor"), "ai_system");
  EXPECT_EQ(events.text("/data/1/actor"), "ai_system");
}

TEST_F(RestReminders, WhoOptsOutGetsNone) {
  make_customer();
  const std::string id = make_draft();
  ASSERT_EQ(call("POST", "/reminders/customers/cust_001/opt-out", R"({"reason":"asked by phone"})").status(), 200);
  EXPECT_EQ(approve(id).code(), "REMINDERS_STOPPED");
  EXPECT_EQ(get("/emails").size("/data"), 0U);
}

TEST_F(RestReminders, WhyACustomerIsStoppedIsShown) {
  make_customer();
  ASSERT_EQ(call("POST", "/reminders/customers/cust_001/opt-out", R"({"reason":"asked by phone"})").status(), 200);
  ASSERT_EQ(call("POST", "/reminders/customers/cust_001/complaint", R"({"reason":"wrote a letter"})").status(), 200);
  const Received customer = get("/reminders/customers/cust_001");
  EXPECT_EQ(customer.text("/opted_out_reason"), "asked by phone") << customer.response.body;
  EXPECT_EQ(customer.text("/last_complaint"), "wrote a letter");
}

TEST_F(RestReminders, WhatAChangedInvoiceCancelsIsTold) {
  make_customer();
  const Received sent = approve(make_draft());
  ASSERT_EQ(sent.status(), 200) << sent.response.body;
  const Received changed = call("PUT", "/reminders/customers/cust_001/invoices/INV-1",
                                R"({"amount":"1500.00","currency":"EUR","due_date":"2099-12-01"})");
  ASSERT_EQ(changed.status(), 200) << changed.response.body;
  EXPECT_EQ(changed.text("/cancelled_reminders/0"), sent.text("/id")) << changed.response.body;
  EXPECT_EQ(changed.size("/reminders_being_sent"), 0U);
  EXPECT_EQ(get("/reminders/customers/cust_001/history/" + sent.text("/id")).text("/failure"),
            "no invoice of the customer is overdue any more");
  const Received events = get("/reminders/audit");
  EXPECT_THAT(events.response.body, HasSubstr("reminder.cancelled"));
  EXPECT_THAT(events.response.body, HasSubstr("no invoice of the customer is overdue any more"));
}

// Without waiting for the next look, which may be hours away.
TEST_F(RestReminders, WhatHappensToAnEmailReachesItsReminderAtOnce) {
  make_customer();
  const Received sent = approve(make_draft());
  const std::string reminder = "/reminders/customers/cust_001/history/" + sent.text("/id");
  ASSERT_EQ(call("POST", "/emails/" + sent.text("/email_id") + "/cancel", R"({"reason":"Ada called"})").status(), 204);
  ASSERT_TRUE(reminders_.deliveries().run_once());
  EXPECT_EQ(get(reminder).text("/delivery_status"), "cancelled");
  EXPECT_EQ(get(reminder).text("/failure"), "Ada called");
}

TEST_F(RestReminders, PayingWithdrawsDrafts) {
  make_customer();
  const std::string id = make_draft();
  const Received paid = call("POST", "/reminders/customers/cust_001/invoices/INV-1/pay", R"({"reference":"r-1"})");
  ASSERT_EQ(paid.status(), 200) << paid.response.body;
  EXPECT_EQ(paid.text("/status"), "paid");
  EXPECT_EQ(get("/reminders/drafts/" + id).text("/status"), "withdrawn");
  EXPECT_EQ(approve(id).status(), 409);
}

TEST_F(RestReminders, BulkAnswersForEach) {
  make_customer();
  const Received answer =
      call("POST", "/reminders/drafts/bulk", R"({"drafts":[)" + draft_of("cust_001") + "," + draft_of("nobody") + "]}");
  ASSERT_EQ(answer.status(), 200) << answer.response.body;
  EXPECT_EQ(answer.number("/summary/successful"), 1);
  EXPECT_EQ(answer.number("/summary/failed"), 1);
  EXPECT_EQ(answer.text("/results/0/draft/customer_id"), "cust_001");
  EXPECT_EQ(answer.text("/results/1/error/code"), "CUSTOMER_NOT_FOUND");
  EXPECT_EQ(answer.text("/results/1/error/errors/0/field"), "drafts[1].customer_id");
  const Received other = call("POST", "/reminders/drafts/bulk", R"({"drafts":[)" + draft_of("cust_001", "x") + "]}");
  EXPECT_EQ(other.text("/results/0/error/errors/0/field"), "drafts[0].reminder_type");
}

TEST_F(RestReminders, OneMalformedDraftRefusesAll) {
  make_customer();
  const Received answer =
      call("POST", "/reminders/drafts/bulk",
           R"({"drafts":[)" + draft_of("cust_001") + R"(,{"customer_id":7,"reminder_type":"first"}]})");
  EXPECT_EQ(answer.status(), 400);
  EXPECT_EQ(answer.text("/errors/0/field"), "drafts[1].customer_id");
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 0U);
  std::string many = draft_of("cust_001");
  for (int i = 1; i <= 100; ++i) many += "," + draft_of("cust_001");
  EXPECT_EQ(call("POST", "/reminders/drafts/bulk", R"({"drafts":[)" + many + "]}").status(), 400);
  EXPECT_EQ(call("POST", "/reminders/drafts/bulk", R"({"drafts":[]})").status(), 400);
}

struct BadRequest {
  std::string method, target, body;
  int status;
  std::string code;
  std::string field;  // empty: none is at fault
};

TEST_F(RestReminders, WhatIsWrongIsNamedAndChangesNothing) {
  make_customer();
  const std::string draft = make_draft();
  const std::string customer = "/reminders/customers/cust_001";
  const std::string version = R"({"subject_template":"a","body_template":"b"})";
  ASSERT_EQ(call("POST", "/reminders/templates/known/versions", version).status(), 201);
  const std::vector<BadRequest> requests = {
      {"POST", "/reminders/drafts", draft_of("nobody"), 404, "CUSTOMER_NOT_FOUND", "customer_id"},
      {"POST", "/reminders/drafts", draft_of(""), 400, "INVALID_REQUEST", "customer_id"},
      {"POST", "/reminders/drafts", draft_of("cust_001", "fourth"), 400, "INVALID_REQUEST", "reminder_type"},
      {"POST", "/reminders/drafts", R"({"customer_id":"cust_001","reminder_type":"first","template_id":"none"})", 404,
       "TEMPLATE_NOT_FOUND", "template_id"},
      {"POST", "/reminders/drafts",
       R"({"customer_id":"cust_001","reminder_type":"first","template_id":"known","variables":{"subject":"x"}})", 400,
       "INVALID_REQUEST", "variables.subject"},
      {"POST", "/reminders/drafts", R"({"customer_id":"cust_001","reminder_type":"first"})", 400, "INVALID_REQUEST",
       "template_id"},
      {"POST", "/reminders/drafts", R"({"customer_id":"cust_001","reminder_type":"first","email_subject":"x"})", 400,
       "INVALID_REQUEST", "email_content"},
      {"POST", "/reminders/drafts", R"({"customer_id":"cust_001","reminder_type":"first","template":"x"})", 400,
       "INVALID_REQUEST", "template_id"},
      {"POST", "/reminders/drafts", "{", 400, "MALFORMED_JSON", ""},
      {"POST", "/reminders/drafts/" + draft + "/approve", "{}", 400, "INVALID_REQUEST", "revision"},
      {"POST", "/reminders/drafts/" + draft + "/approve", R"({"revision":0})", 400, "INVALID_REQUEST", "revision"},
      {"POST", "/reminders/drafts/" + draft + "/approve", R"({"revision":7})", 409, "OTHER_REVISION", "revision"},
      {"POST", "/reminders/drafts/" + draft + "/reject", R"({"revision":7,"reason":"x"})", 409, "OTHER_REVISION",
       "revision"},
      {"POST", "/reminders/drafts/" + draft + "/revisions", R"({"revision":7,"email_subject":"x","email_content":"y"})",
       409, "OTHER_REVISION", "revision"},
      {"POST", "/reminders/drafts/20260101_000000_nobody/approve", R"({"revision":1})", 404, "DRAFT_NOT_FOUND", ""},
      {"POST", "/reminders/drafts/nonsense/approve", R"({"revision":1})", 404, "DRAFT_NOT_FOUND", ""},
      {"POST", "/reminders/drafts/" + draft + "/reject", R"({"revision":1})", 400, "INVALID_REQUEST", "reason"},
      {"POST", "/reminders/drafts/" + draft + "/reject", R"({"revision":1,"reason":"x"})", 400, "INVALID_REQUEST",
       "rejected_by"},
      {"POST", "/reminders/drafts/" + draft + "/approve", R"({"revision":1})", 400, "INVALID_REQUEST", "approved_by"},
      {"PUT", customer, R"({"customer_name":"Ada"})", 400, "INVALID_REQUEST", "customer_email"},
      {"PUT", customer, R"({"customer_name":"Ada","customer_email":"nobody"})", 400, "INVALID_REQUEST",
       "customer_email"},
      {"PUT", customer, R"({"customer_name":"A\r\nBcc: x","customer_email":"a@example.org"})", 400, "INVALID_REQUEST",
       "customer_name"},
      {"PUT", "/reminders/customers/a%23b", R"({"customer_name":"Ada","customer_email":"a@example.org"})", 400,
       "INVALID_REQUEST", "customer_id"},
      {"PUT", customer + "/invoices/INV-2", R"({"amount":"1,5","currency":"EUR","due_date":"2026-01-01"})", 400,
       "INVALID_REQUEST", "amount"},
      {"PUT", customer + "/invoices/INV-2", R"({"amount":1.5,"currency":"EUR","due_date":"2026-01-01"})", 400,
       "INVALID_REQUEST", "amount"},
      {"PUT", customer + "/invoices/INV-2", R"({"amount":"1.5","currency":"euro","due_date":"2026-01-01"})", 400,
       "INVALID_REQUEST", "currency"},
      {"PUT", customer + "/invoices/INV-2", R"({"amount":"1.5","currency":"EUR","due_date":"2026-02-30"})", 400,
       "INVALID_REQUEST", "due_date"},
      {"POST", customer + "/invoices/INV-9/pay", "", 404, "INVOICE_NOT_FOUND", ""},
      {"POST", customer + "/invoices/INV-1/pay", R"({"amount":"-1"})", 400, "INVALID_REQUEST", "amount"},
      {"POST", customer + "/invoices/INV-1/pay", R"({"paid_date":"2030-01-01T00:00:00Z"})", 400, "INVALID_REQUEST",
       "paid_date"},
      {"POST", "/reminders/customers/nobody/opt-out", "", 404, "CUSTOMER_NOT_FOUND", ""},
      {"POST", "/reminders/templates/t/versions", R"({"subject_template":"a {{b","body_template":"c"})", 400,
       "INVALID_REQUEST", "subject_template"},
      {"POST", "/reminders/templates/t/activate", R"({"version":1})", 404, "TEMPLATE_NOT_FOUND", ""},
      {"POST", "/reminders/templates/known/activate", R"({"version":9})", 404, "TEMPLATE_NOT_FOUND", "version"},
      {"POST", "/reminders/templates/t/versions",
       R"({"subject_template":"a","body_template":"b","template_type":"fourth"})", 400, "INVALID_REQUEST",
       "template_type"},
      {"POST", "/reminders/templates/t/versions", R"({"subject_template":"a","body_template":"{{company_name}}"})", 400,
       "INVALID_REQUEST", "branding"},
      {"POST", "/reminders/templates/known/preview", R"({"customer_id":"nobody","reminder_type":"first"})", 404,
       "CUSTOMER_NOT_FOUND", "customer_id"},
      {"GET", "/reminders/drafts?reminder_type=Fourth", "", 400, "INVALID_REQUEST", "reminder_type"},
      {"GET", "/reminders/sent?reminder_type=Fourth", "", 400, "INVALID_REQUEST", "reminder_type"},
      {"GET", customer + "/history?reminder_type=Fourth", "", 400, "INVALID_REQUEST", "reminder_type"},
      {"GET", "/reminders/customers/nobody/history", "", 404, "CUSTOMER_NOT_FOUND", ""},
      {"GET", "/reminders/check?customer_id=nobody&reminder_type=first", "", 404, "CUSTOMER_NOT_FOUND", "customer_id"},
      {"GET", "/reminders/drafts?status=lost", "", 400, "INVALID_REQUEST", "status"},
      {"GET", "/reminders/drafts?cursor=x", "", 400, "INVALID_REQUEST", "cursor"},
      {"GET", "/reminders/sent?since=yesterday", "", 400, "INVALID_REQUEST", "since"},
      {"GET", "/reminders/check?customer_id=cust_001", "", 400, "INVALID_REQUEST", "reminder_type"},
      {"GET", "/reminders/summary?date=today", "", 400, "INVALID_REQUEST", "date"},
      {"GET", "/reminders/audit?date=2026-13-01", "", 400, "INVALID_REQUEST", "date"},
      {"GET", "/reminders/customers/nobody", "", 404, "CUSTOMER_NOT_FOUND", ""},
      {"GET", "/reminders/customers/cust_001/history/none", "", 404, "REMINDER_NOT_FOUND", ""},
      {"GET", "/reminders/export/customers?format=xml", "", 400, "INVALID_REQUEST", "format"},
  };
  const std::string before = get("/reminders/audit").response.body;
  for (const BadRequest& bad : requests) {
    const Received answer = call(bad.method, bad.target, bad.body);
    const std::string shown = bad.method + " " + bad.target + " " + bad.body + "\n" + answer.response.body;
    ASSERT_EQ(answer.status(), bad.status) << shown;
    EXPECT_EQ(answer.code(), bad.code) << shown;
    if (!bad.field.empty()) {
      EXPECT_EQ(answer.text("/errors/0/field"), bad.field) << shown;
    }
  }
  EXPECT_EQ(get("/reminders/audit").response.body, before);
  EXPECT_EQ(get("/emails").size("/data"), 0U);
}

TEST_F(RestReminders, WhatIsWrongIsNamedOnce) {
  make_customer();
  const std::string too_long =
      R"({"customer_id":"cust_001","reminder_type":"first","email_subject":"a","email_content":")" +
      std::string((100 << 10) + 1, 'x') + R"("})";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {too_long, "email_content"}, {"[]", "body"}, {R"("text")", "body"}};
  for (const auto& [body, field] : faults) {
    const Received answer = call("POST", "/reminders/drafts", body);
    EXPECT_EQ(answer.status(), 400);
    EXPECT_EQ(answer.text("/errors/0/field"), field);
    EXPECT_EQ(answer.size("/errors"), 1U) << answer.response.body;
  }
  const Received bulk = call("POST", "/reminders/drafts/bulk", R"({"drafts":[7]})");
  EXPECT_EQ(bulk.text("/errors/0/field"), "drafts[0]");
  EXPECT_EQ(bulk.size("/errors"), 1U) << bulk.response.body;
}

TEST_F(RestReminders, TheWordsOfOtherProgramsAreShown) {
  make_customer();
  store::PutItemRequest request;
  request.table_name = "EmailTrackingTable";
  request.item = {
      {"PK", "CUSTOMER#cust_001"},           {"SK", "SENT#20250921_150000_first"}, {"GSI1PK", "STATUS#sent"},
      {"GSI1SK", "2025-09-21T15:00:00Z"},    {"customer_id", "cust_001"},          {"reminder_type", "first"},
      {"email_subject", "Payment Reminder"}, {"email_content", "Dear John..."},    {"status", "sent"},
      {"sent_date", "2025-09-21T15:00:00Z"}, {"ses_message_id", "0000014a-f4d4"},  {"delivery_status", "delivered"}};
  ASSERT_TRUE(store().put_item(request));
  const Received sent = get("/reminders/customers/cust_001/history/20250921_150000_first");
  EXPECT_EQ(sent.text("/status"), "sent") << sent.response.body;
  EXPECT_EQ(sent.text("/delivery_status"), "delivered");
  EXPECT_EQ(sent.text("/ses_message_id"), "0000014a-f4d4");
  const Received customer = get("/reminders/customers/cust_001");
  EXPECT_EQ(customer.text("/last_reminders/0/reminder_type"), "first") << customer.response.body;
  EXPECT_EQ(customer.text("/last_reminders/0/sent_date"), "2025-09-21T15:00:00.000Z");
  EXPECT_EQ(customer.text("/last_reminders/0/record"), "20250921_150000_first");
}

// Rules come and go with the configuration.
TEST_F(RestReminders, RecordsOfATypeWithoutARuleAreFound) {
  make_customer();
  store::PutItemRequest request;
  request.table_name = "EmailTrackingTable";
  request.item = {{"PK", "CUSTOMER#cust_001"},
                  {"SK", "SENT#20250921_150000_friendly"},
                  {"GSI1PK", "STATUS#sent"},
                  {"GSI1SK", "2025-09-21T15:00:00Z"},
                  {"customer_id", "cust_001"},
                  {"reminder_type", "friendly"},
                  {"email_subject", "Please pay"},
                  {"email_content", "Dear Ada."},
                  {"status", "sent"},
                  {"sent_date", "2025-09-21T15:00:00Z"}};
  ASSERT_TRUE(store().put_item(request));
  EXPECT_EQ(get("/reminders/sent?reminder_type=friendly").size("/data"), 1U);
  EXPECT_EQ(get("/reminders/customers/cust_001/history?reminder_type=friendly").size("/data"), 1U);
  EXPECT_EQ(get("/reminders/drafts?reminder_type=friendly").size("/data"), 0U);
}

TEST_F(RestReminders, ARangeHasTimesOrWholeDays) {
  make_customer();
  ASSERT_EQ(approve(make_draft()).status(), 200);  // at 2026-01-02T03:04:05Z
  const auto found = [&](const std::string& range) {
    const std::size_t all = get("/reminders/sent?" + range).size("/data");
    EXPECT_EQ(get("/reminders/customers/cust_001/history?" + range).size("/data"), all) << range;
    return all;
  };
  EXPECT_EQ(found("since=2026-01-02"), 1U);
  EXPECT_EQ(found("until=2026-01-02"), 1U) << "the day is in it";
  EXPECT_EQ(found("since=2026-01-02&until=2026-01-02"), 1U);
  EXPECT_EQ(found("since=2026-01-03"), 0U);
  EXPECT_EQ(found("until=2026-01-01"), 0U);
  EXPECT_EQ(found("since=2026-01-02T03:04:05Z&until=2026-01-02T03:04:06Z"), 1U);
  EXPECT_EQ(found("until=2026-01-02T03:04:05Z"), 0U);
  EXPECT_EQ(found("since=1970-01-01&until=9999-12-31"), 1U);
  EXPECT_EQ(found("since=0000-01-01T00:00:00Z"), 1U);
  EXPECT_EQ(get("/reminders/sent?since=2026-01-03&until=2026-01-02").text("/errors/0/field"), "until");
  EXPECT_EQ(get("/reminders/sent?until=2026-02-30").text("/errors/0/field"), "until");
}

TEST_F(RestReminders, FormerPathsLeadToTheSame) {
  make_customer();
  make_customer("cust_002");
  const std::string id = make_draft();
  const std::string unknown = R"({"draft_id":"20260101_000000_nobody","revision":1})";
  EXPECT_EQ(call("POST", "/approve-and-send", unknown).text("/errors/0/field"), "draft_id");
  EXPECT_EQ(call("POST", "/approve-and-send", R"({"revision":1})").text("/errors/0/field"), "draft_id");
  const Received sent =
      call("POST", "/approve-and-send", R"({"draft_id":")" + id + R"(","revision":1,"approved_by":"ann"})");
  ASSERT_EQ(sent.status(), 200) << sent.response.body;
  EXPECT_EQ(sent.text("/approved_by"), "ann");
  ASSERT_EQ(approve(make_draft("cust_002")).status(), 200);
  EXPECT_EQ(get("/email-history").size("/data"), 2U);
  const Received history = get("/email-history?customer_id=cust_001");
  ASSERT_EQ(history.size("/data"), 1U) << history.response.body;
  EXPECT_EQ(history.text("/data/0/customer_id"), "cust_001");
  EXPECT_EQ(get("/email-history?customer_id=cust_001&status=failed").size("/data"), 0U);
  const Received nobody = get("/email-history?customer_id=nobody");
  EXPECT_EQ(nobody.code(), "CUSTOMER_NOT_FOUND");
  EXPECT_EQ(nobody.text("/errors/0/field"), "customer_id");
}

TEST_F(RestReminders, AnErasureTellsOfTheSandbox) {
  make_customer();
  const Received sent = approve(make_draft());
  ASSERT_EQ(sent.status(), 200);
  const Received erased = call("POST", "/reminders/customers/cust_001/erase", R"({"also_unpaid":true})");
  EXPECT_THAT(erased.response.body, HasSubstr("records of e-mails that were not sent"));
  EXPECT_THAT(erased.response.body, testing::Not(HasSubstr("sandbox"))) << "it has not got there";

  make_customer("cust_002");
  const Received second = approve(make_draft("cust_002"));
  ASSERT_EQ(second.status(), 200);
  // As if a worker had sent it.
  const outbox::Email email = ledger_.find(second.text("/email_id")).value().value();
  auto change = decide(email, outbox::event::PayloadRejected{}, policy_, clock().now());
  ASSERT_TRUE(change) << change.error().message;
  change->after.state = outbox::State::sent;
  change->after.due_at.reset();
  std::vector<outbox::Change> changes;
  changes.push_back(*std::move(change));
  ASSERT_EQ(ledger_.move(std::move(changes)).front().status, outbox::MoveStatus::done);
  const Received other = call("POST", "/reminders/customers/cust_002/erase", R"({"also_unpaid":true})");
  EXPECT_THAT(other.response.body, HasSubstr("records of e-mails that were sent"));
  EXPECT_THAT(other.response.body, HasSubstr("entries of the sandbox's mailbox"));
}

TEST_F(RestReminders, ATenantKnowsNothingOfOthers) {
  start_reminders(
      {"a:operator@acme:secret-of-acme-01", "b:operator@beta:secret-of-beta-01", "o:operator:secret-of-company"});
  const Headers acme = with_key("secret-of-acme-01");
  const Headers beta = with_key("secret-of-beta-01");
  make_customer("cust_001", acme);
  const std::string draft = make_draft("cust_001", acme);
  for (const Headers& others : {beta, with_key("secret-of-company")}) {
    EXPECT_EQ(get("/reminders/customers/cust_001", others).code(), "CUSTOMER_NOT_FOUND");
    EXPECT_EQ(get("/reminders/customers", others).size("/data"), 0U);
    EXPECT_EQ(get("/reminders/drafts", others).size("/data"), 0U);
    EXPECT_EQ(get("/reminders/drafts/" + draft, others).code(), "DRAFT_NOT_FOUND");
    EXPECT_EQ(approve(draft, 1, others).code(), "DRAFT_NOT_FOUND");
    EXPECT_EQ(get("/reminders/overdue", others).size("/data"), 0U);
    EXPECT_EQ(get("/reminders/audit", others).size("/data"), 0U);
  }
  EXPECT_EQ(approve(draft, 1, acme).status(), 200);
  EXPECT_EQ(get("/emails", acme).size("/data"), 1U);
  EXPECT_EQ(get("/emails", beta).size("/data"), 0U);
}

TEST_F(RestReminders, DraftersDraftAndApproversApprove) {
  start_reminders({"d:drafter:secret-of-drafter", "a:approver:secret-of-approver", "o:operator:secret-of-operator",
                   "s:sender:secret-of-sender1"});
  make_customer("cust_001", with_key("secret-of-operator"));
  const std::string draft = make_draft("cust_001", with_key("secret-of-drafter"));
  EXPECT_EQ(approve(draft, 1, with_key("secret-of-drafter")).status(), 403);
  EXPECT_EQ(approve(draft, 1, with_key("secret-of-sender1")).status(), 403);
  EXPECT_EQ(get("/reminders/drafts/" + draft, with_key("secret-of-sender1")).status(), 403);
  EXPECT_EQ(approve(draft, 1, with_key("secret-of-approver")).status(), 200);
  const Received audit = get("/reminders/audit?subject=drafts/", with_key("secret-of-operator"));
  EXPECT_THAT(audit.response.body, HasSubstr(R"("actor":"ann","key":"a",)"));
  EXPECT_THAT(audit.response.body, HasSubstr(R"("actor":"ai_system","key":"d",)"));
}

TEST_F(RestOtherPerson, WhoDraftedItDoesNotApproveIt) {
  start_reminders({"d:operator:secret-of-the-first", "a:approver:secret-of-the-other"});
  make_customer("cust_001", with_key("secret-of-the-first"));
  const std::string draft = make_draft("cust_001", with_key("secret-of-the-first"));
  const Received refused = approve(draft, 1, with_key("secret-of-the-first"));
  EXPECT_EQ(refused.status(), 403) << "the same key, under another name";
  EXPECT_EQ(refused.code(), "SAME_PERSON");
  EXPECT_EQ(approve(draft, 1, with_key("secret-of-the-other")).status(), 200);
}

// The approver's call waits for a thread while the key is taken away.
TEST_F(RestReminders, AKeyThatWasRevokedAMomentAgoApprovesNothing) {
  const std::string_view operating = "o:operator:secret-of-operator";
  start_reminders({operating, "a:approver:secret-of-approver"}, 1);
  make_customer("cust_001", with_key("secret-of-operator"));
  const std::string draft = make_draft("cust_001", with_key("secret-of-operator"));
  std::latch working(1);
  std::latch go_on(1);
  wake_ = [&](outbox::Pipeline) {
    working.count_down();
    go_on.wait();
  };
  auto blocking =
      begin("POST", "/emails", batch(payload()),
            {{"Content-Type", "application/json"}, {"Idempotency-Key", "k"}, {"X-API-Key", "secret-of-operator"}});
  working.wait();
  auto waiting = begin("POST", "/reminders/drafts/" + draft + "/approve", R"({"revision":1})",
                       {{"Content-Type", "application/json"}, {"X-API-Key", "secret-of-approver"}});
  api_->set_keys({parse_api_key(operating).value()});
  go_on.count_down();
  EXPECT_EQ(blocking.get().status, 201);
  EXPECT_EQ(waiting.get().status, 401);
  EXPECT_EQ(get("/reminders/drafts/" + draft, with_key("secret-of-operator")).text("/status"), "draft");
}

TEST_F(RestReminders, FilesAreTakenLineByLineAndWrittenAgain) {
  const std::string csv =
      "customer_id,customer_name,customer_email\nc1,Ann,ann@example.org\nc2,=1+1,bob@example.org\nc3,Eve,none\n";
  const Received report(
      begin("POST", "/reminders/import/customers", csv, {{"Content-Type", "text/csv; charset=utf-8"}}).get());
  ASSERT_EQ(report.status(), 200) << report.response.body;
  EXPECT_EQ(report.number("/taken"), 2);
  EXPECT_EQ(report.number("/refused"), 1);
  EXPECT_EQ(report.number("/lines/0/line"), 4);
  EXPECT_EQ(report.text("/lines/0/field"), "customer_email");
  const Received lines(
      begin("POST", "/reminders/import/invoices",
            R"({"customer_id":"c1","invoice_id":"I1","amount":"5","currency":"EUR","due_date":"2025-01-01"})",
            {{"Content-Type", "application/x-ndjson"}})
          .get());
  EXPECT_EQ(lines.number("/taken"), 1) << lines.response.body;
  EXPECT_EQ(get("/reminders/overdue").size("/data"), 1U);

  std::string file;
  std::string cursor;
  do {
    const Received part = get("/reminders/export/customers?limit=1&cursor=" + cursor);
    ASSERT_EQ(part.status(), 200);
    EXPECT_EQ(part.response.content_type, "text/csv");
    file += part.response.body;
    cursor = part.header("X-Next-Cursor");
  } while (!cursor.empty());
  EXPECT_THAT(file, HasSubstr("c1,"));
  EXPECT_THAT(file, testing::Not(HasSubstr(",=1+1")));
  EXPECT_EQ(call("POST", "/reminders/import/customers", "{}").status(), 415);
}

TEST_F(RestReminders, TemplatesAreVersionedAndPreviewed) {
  const std::string path = "/reminders/templates/reminder_first";
  const auto version = [](const std::string& subject) {
    return R"({"template_name":"First","subject_template":")" + subject +
           R"(","body_template":"Dear {{customer_name}}","html_template":"<p>{{customer_name}}</p>"})";
  };
  ASSERT_EQ(call("POST", path + "/versions", version("One")).status(), 201);
  const Received second = call("POST", path + "/versions", version("Two"));
  EXPECT_EQ(second.number("/version"), 2);
  EXPECT_EQ(second.text("/status"), "inactive");
  EXPECT_EQ(get(path).number("/version"), 1);
  ASSERT_EQ(call("POST", path + "/activate", R"({"version":2})").status(), 200);
  EXPECT_EQ(get(path).text("/subject_template"), "Two");
  EXPECT_EQ(get(path + "?version=1").text("/status"), "inactive");
  EXPECT_EQ(get(path + "/versions").size("/data"), 2U);
  EXPECT_EQ(get("/reminders/templates").number("/data/0/active_version"), 2);
  const Received preview = call("POST", path + "/preview", R"({"variables":{"customer_name":"<b>{{x}}"}})");
  ASSERT_EQ(preview.status(), 200) << preview.response.body;
  EXPECT_EQ(preview.text("/email_html"), "<p>&lt;b&gt;{{x}}</p>");

  make_customer();
  const Received own = call("PUT", "/reminders/customers/cust_001/templates/reminder_first", version("Own"));
  ASSERT_EQ(own.status(), 200) << own.response.body;
  const Received of_customer = call("POST", path + "/preview", R"({"customer_id":"cust_001","reminder_type":"first"})");
  EXPECT_EQ(of_customer.text("/email_subject"), "Own");
  EXPECT_EQ(of_customer.text("/email_content"), "Dear Ada");
  EXPECT_EQ(call("DELETE", "/reminders/customers/cust_001/templates/reminder_first").status(), 204);
  EXPECT_EQ(get("/reminders/customers/cust_001/templates/reminder_first").text("/subject_template"), "Two");
}

TEST_F(RestReminders, ACustomerIsExportedAndErased) {
  make_customer();
  make_draft();
  const Received all = get("/reminders/customers/cust_001/export");
  ASSERT_EQ(all.status(), 200) << all.response.body;
  EXPECT_THAT(all.response.body, HasSubstr("ada@example.org"));
  EXPECT_EQ(call("POST", "/reminders/customers/cust_001/erase").code(), "WRONG_REMINDER_STATE");
  const Received erased = call("POST", "/reminders/customers/cust_001/erase", R"({"also_unpaid":true})");
  ASSERT_EQ(erased.status(), 200) << erased.response.body;
  EXPECT_GT(erased.size("/removed"), 0U);
  EXPECT_THAT(erased.response.body, HasSubstr("answers under idempotency keys"));
  EXPECT_EQ(get("/reminders/customers/cust_001").code(), "CUSTOMER_NOT_FOUND");
  EXPECT_EQ(get("/reminders/drafts").size("/data"), 0U);
}

TEST_F(RestReminders, ADayIsCounted) {
  make_customer();
  ASSERT_EQ(approve(make_draft()).status(), 200);
  const Received summary = get("/reminders/summary");
  EXPECT_EQ(summary.text("/date"), "2026-01-02");
  EXPECT_EQ(summary.number("/counts/approved"), 1) << summary.response.body;
  EXPECT_EQ(summary.number("/counts/drafts_created"), 1) << summary.response.body;
}

TEST_F(RestReminders, AnApprovalThatIsSentAgainWithItsKeyIsAnsweredTheSame) {
  make_customer();
  const std::string draft = make_draft();
  const Headers key{{"Idempotency-Key", "approve-1"}};
  const Received first = approve(draft, 1, key);
  const Received again = approve(draft, 1, key);
  EXPECT_EQ(again.status(), 200);
  EXPECT_EQ(again.response.body, first.response.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
}

TEST_F(Rest, WithoutRemindersThereAreNone) {
  EXPECT_EQ(get("/reminders/drafts").code(), "NO_REMINDERS");
  EXPECT_EQ(call("POST", "/reminders/drafts", "{}").code(), "NO_REMINDERS");
}

}  // namespace
}  // namespace postino::api
