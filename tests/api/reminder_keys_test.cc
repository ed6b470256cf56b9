// Idempotency keys of requests about reminders: what is kept under them, and what a repeated request is answered.
#include "item/json_codec.h"
#include "reminders_fixture.h"

namespace postino::api {
namespace {

using testing::HasSubstr;
using testing::Not;

class RestReminderKeys : public RestReminders {
 protected:
  RestReminderKeys() { make_customer(); }

  static Headers key(const std::string& name) { return {{"Idempotency-Key", name}}; }
  // Everything that is kept under keys, as text.
  std::string kept() {
    std::string text;
    for (const char* const table : {"mq-probe-idempotency", "mq-probe-idempotency-answers"}) {
      store::ScanRequest request;
      request.table_name = table;
      const auto page = store().scan(request);
      EXPECT_TRUE(page) << page.error().message;
      if (page)
        for (const item::Item& item : page->items) text += item::to_json(item);
    }
    return text;
  }
  // Twice, with one key: the second answer is the first one again.
  Received twice(const std::string& path, const std::string& body, const std::string& name) {
    Received first = call("POST", path, body, key(name));
    const Received again = call("POST", path, body, key(name));
    EXPECT_LT(first.status(), 300) << path << " " << first.response.body;
    EXPECT_EQ(again.status(), first.status()) << path;
    EXPECT_EQ(again.response.body, first.response.body) << path;
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true") << path;
    return first;
  }
};

TEST_F(RestReminderKeys, KeepNoNameNoAddressAndNoText) {
  const std::string text = R"("email_subject":"Please pay","email_content":"Dear Ada, please pay.")";
  const std::string draft = R"({"customer_id":"cust_001","reminder_type":"first",)" + text + "}";
  ASSERT_EQ(call("POST", "/reminders/templates/first/versions",
                 R"({"subject_template":"Pay","body_template":"Dear {{customer_name}}"})")
                .status(),
            201);
  twice("/reminders/templates/first/preview", R"({"customer_id":"cust_001","reminder_type":"first"})", "preview");
  const std::string id = twice("/reminders/drafts", draft, "new").text("/id");
  const Received bulk =
      twice("/reminders/drafts/bulk",
            R"({"drafts":[)" + draft + R"(,{"customer_id":"nobody","reminder_type":"first",)" + text + "}]}", "bulk");
  EXPECT_EQ(bulk.number("/summary/successful"), 1);
  EXPECT_EQ(bulk.text("/results/1/error/errors/0/field"), "drafts[1].customer_id");
  const std::string path = "/reminders/drafts/" + id;
  twice(path + "/revisions", R"({"revision":1,"email_subject":"Pay now","email_content":"Dear Ada!"})", "revise");
  const Received sent = twice(path + "/approve", R"({"revision":2,"approved_by":"ann"})", "approve");
  const std::string other = bulk.text("/results/0/draft/id");
  twice("/reminders/drafts/" + other + "/reject", R"({"revision":1,"reason":"Ada called","rejected_by":"ann"})", "reject");
  const Received out = twice("/reminders/customers/cust_001/opt-out", R"({"reason":"Ada called"})", "out");
  EXPECT_EQ(out.text("/cancelled_reminders/0"), sent.text("/id"));
  twice("/reminders/customers/cust_001/opt-in", "", "in");
  twice("/reminders/customers/cust_001/complaint", R"({"reason":"Ada is angry"})", "complaint");
  twice("/reminders/customers/cust_001/invoices/INV-1/pay", R"({"amount":"1.00"})", "pay");

  const std::string all = kept();
  EXPECT_THAT(all, HasSubstr("toldOf"));
  EXPECT_THAT(all, Not(HasSubstr("Ada")));
  EXPECT_THAT(all, Not(HasSubstr("ada@")));
  EXPECT_THAT(all, Not(HasSubstr("lease pay")));
}

TEST_F(RestReminderKeys, TellNothingOfACustomerWhoWasErased) {
  const std::string body = draft_of("cust_001");
  const Received made = call("POST", "/reminders/drafts", body, key("new"));
  const std::string approval = "/reminders/drafts/" + made.text("/id") + "/approve";
  const Received sent = call("POST", approval, R"({"revision":1,"approved_by":"ann"})", key("approve"));
  ASSERT_EQ(sent.status(), 200) << sent.response.body;
  ASSERT_EQ(call("POST", "/reminders/customers/cust_001/erase", R"({"also_unpaid":true})", key("erase")).status(), 200);
  const Received again = call("POST", "/reminders/drafts", body, key("new"));
  EXPECT_EQ(again.code(), "DRAFT_NOT_FOUND") << again.response.body;
  EXPECT_EQ(get("/reminders/drafts?status=any").size("/data"), 0U) << "it is not executed again";
  const Received record = call("POST", approval, R"({"revision":1,"approved_by":"ann"})", key("approve"));
  EXPECT_EQ(record.status(), 200) << record.response.body;
  EXPECT_EQ(record.text("/id"), sent.text("/id"));
  EXPECT_THAT(record.response.body, Not(HasSubstr("ada@")));
  EXPECT_THAT(kept(), Not(HasSubstr("ada@")));
}

}  // namespace
}  // namespace postino::api
