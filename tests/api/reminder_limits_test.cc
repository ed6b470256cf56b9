// The limits that the OpenAPI document states of requests about reminders are those that they are held to.
#include "api/routes/reminder_requests.h"
#include "reminders_fixture.h"
#include "stated_limits.h"

namespace postino::api {
namespace {

// What is wrong, in the words of the API.
template <class T>
std::string faults_of(const base::Result<T, Problem>& read) {
  if (read) return "";
  std::string text = read.error().detail;
  for (const json::FieldError& error : read.error().errors) text += "; " + error.field + " " + error.rule;
  return text;
}

// A decimal of this many characters.
std::string decimal(std::int64_t size) { return in_quotes(std::string(static_cast<std::size_t>(size) - 1, '0') + "1"); }

// Members of a draft or of a revision.
LimitCases text_cases(const std::string& before) {
  const std::string subject = R"("email_subject":"s")", content = R"("email_content":"c")";
  return {{"email_subject:string", {before + content + R"(,"email_subject":$})", text()}},
          {"email_content:string", {before + subject + R"(,"email_content":$})", text()}},
          {"email_html:string", {before + subject + "," + content + R"(,"email_html":$})", text()}}};
}

LimitCases new_draft_cases() {
  const std::string draft = R"({"customer_id":"c","reminder_type":"first","template_id":"t",)";
  LimitCases cases = text_cases(R"({"customer_id":"c","reminder_type":"first",)");
  cases.merge(LimitCases{
      {"customer_id:string", {R"({"customer_id":$,"reminder_type":"first","template_id":"t"})", text()}},
      {"reminder_type:string", {R"({"customer_id":"c","reminder_type":$,"template_id":"t"})", text()}},
      {"template_id:string", {R"({"customer_id":"c","reminder_type":"first","template_id":$})", text()}},
      {"variables:object", {draft + R"("variables":$})", object}},
      {"variables{}:string", {draft + R"("variables":{"v":$}})", text()}},
      {"created_by:string", {draft + R"("created_by":$})", text()}},
  });
  return cases;
}

TEST(StatedReminderLimits, OfDraftsAreThoseOfTheCode) {
  expect_limits("NewDraft", new_draft_cases(), [](const std::string& body) { return faults_of(read_new_draft(body)); });
  LimitCases cases{{"drafts:array",
                    {R"({"drafts":$})", array_of(R"({"customer_id":"c","reminder_type":"first","template_id":"t"})")}}};
  for (const auto& [path, limit] : new_draft_cases())
    cases["drafts[]." + path] = {R"({"drafts":[)" + limit.body + "]}", limit.sample};
  expect_limits("NewDrafts", cases, [](const std::string& body) { return faults_of(read_new_drafts(body)); });
}

TEST(StatedReminderLimits, OfDecisionsAreThoseOfTheCode) {
  LimitCases revision = text_cases(R"({"revision":1,)");
  const std::string both = R"("email_subject":"s","email_content":"c")";
  revision["revision:integer"] = {"{" + both + R"(,"revision":$})", number};
  revision["revised_by:string"] = {R"({"revision":1,)" + both + R"(,"revised_by":$})", text()};
  expect_limits("NewRevision", revision, [](const std::string& body) { return faults_of(read_revision(body)); });

  const LimitCases approval{{"revision:integer", {R"({"revision":$})", number}},
                            {"approved_by:string", {R"({"revision":1,"approved_by":$})", text()}}};
  expect_limits("Approval", approval, [](const std::string& body) { return faults_of(read_approval(body)); });
  const LimitCases named{{"draft_id:string", {R"({"revision":1,"draft_id":$})", text()}},
                         {"revision:integer", {R"({"draft_id":"d","revision":$})", number}},
                         {"approved_by:string", {R"({"draft_id":"d","revision":1,"approved_by":$})", text()}}};
  expect_limits("NamedApproval", named, [](const std::string& body) { return faults_of(read_named_approval(body)); });
  const LimitCases rejection{{"revision:integer", {R"({"reason":"r","revision":$})", number}},
                             {"reason:string", {R"({"revision":1,"reason":$})", text()}},
                             {"rejected_by:string", {R"({"revision":1,"reason":"r","rejected_by":$})", text()}}};
  expect_limits("Rejection", rejection, [](const std::string& body) { return faults_of(read_rejection(body)); });
}

TEST(StatedReminderLimits, OfCustomersAndInvoicesAreThoseOfTheCode) {
  const LimitCases customer{
      {"customer_name:string", {R"({"customer_email":"a@example.org","customer_name":$})", text()}},
      {"customer_email:string", {R"({"customer_name":"n","customer_email":$})", text()}}};
  expect_limits("CustomerDetails", customer,
                [](const std::string& body) { return faults_of(read_customer(body, "c")); });
  // The digits of an amount have a rule of their own.
  const LimitCases invoice{
      {"amount:string", {R"({"currency":"EUR","due_date":"2026-01-01","amount":$})", decimal, 1, false}}};
  expect_limits("InvoiceDetails", invoice,
                [](const std::string& body) { return faults_of(read_invoice(body, "c", "i")); });
  const LimitCases payment{{"amount:string", {R"({"amount":$})", decimal, 1}},
                           {"reference:string", {R"({"reference":$})", text()}}};
  expect_limits("Payment", payment, [](const std::string& body) { return faults_of(read_payment(body)); });
}

TEST(StatedReminderLimits, OfTemplatesAreThoseOfTheCode) {
  const std::string both = R"("subject_template":"s","body_template":"b")";
  const auto with = [&](const std::string& member) { return "{" + both + "," + member + "}"; };
  const LimitCases details{
      {"template_name:string", {with(R"("template_name":$)"), text()}},
      {"template_type:string", {with(R"("template_type":$)"), text()}},
      {"subject_template:string", {R"({"body_template":"b","subject_template":$})", text()}},
      {"body_template:string", {R"({"subject_template":"s","body_template":$})", text()}},
      {"html_template:string", {with(R"("html_template":$)"), text()}},
      {"required:array", {with(R"("required":$)"), array_of(R"("v")")}},
      {"required[]:string", {with(R"("required":[$])"), text()}},
      {"branding:string", {with(R"("branding":$)"), text()}},
      {"created_by:string", {with(R"("created_by":$)"), text()}},
  };
  expect_limits("TemplateDetails", details,
                [](const std::string& body) { return faults_of(read_template(body, "t")); });
  expect_limits("VersionChoice", {{"version:integer", {R"({"version":$})", number}}},
                [](const std::string& body) { return faults_of(read_version(body)); });
  const LimitCases preview{
      {"version:integer", {R"({"version":$})", number}},
      {"customer_id:string", {R"({"reminder_type":"first","customer_id":$})", text(), 1}},
      {"reminder_type:string", {R"({"customer_id":"c","reminder_type":$})", text(), 1}},
      {"variables:object", {R"({"variables":$})", object}},
      {"variables{}:string", {R"({"variables":{"v":$}})", text()}},
  };
  expect_limits("PreviewRequest", preview, [](const std::string& body) { return faults_of(read_preview(body)); });
  LimitCases branding;
  for (const std::string name : {"from", "reply_to", "company", "text_footer", "html_header", "html_footer"})
    branding[name + ":string"] = {"{" + in_quotes(name) + ":$}", text()};
  expect_limits("BrandingDetails", branding,
                [](const std::string& body) { return faults_of(read_branding(body, "b")); });
}

// What a request may have, the services take.
TEST_F(RestReminders, LimitsOfRequestsAreThoseOfTheServices) {
  const auto name = std::string(ReminderLimits::name_bytes, 'n');
  const std::string details = R"({"customer_email":"a@example.org","customer_name":")" + name + R"("})";
  EXPECT_EQ(call("PUT", "/reminders/customers/" + std::string(ReminderLimits::id_bytes, 'c'), details).status(), 200);
  make_customer();
  const std::string reference(ReminderLimits::reference_bytes, 'r');
  const Received paid = call("POST", "/reminders/customers/cust_001/invoices/INV-1/pay",
                             R"({"amount":"1.00","reference":")" + reference + R"("})");
  EXPECT_EQ(paid.status(), 200) << paid.response.body;
  const Received rejected =
      call("POST", "/reminders/drafts/" + make_draft() + "/reject",
           R"({"revision":1,"rejected_by":"ann","reason":")" + std::string(ReminderLimits::reason_bytes, 'r') + R"("})");
  EXPECT_EQ(rejected.status(), 200) << rejected.response.body;
}

}  // namespace
}  // namespace postino::api
