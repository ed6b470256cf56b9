// The shapes of what is said about drafts, and about reminders that were sent.
#include "api/protocol/schemas.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

Schema draft_line(std::size_t most, std::string description) {
  return {.type = "string",
          .description = std::move(description),
          .pattern = without_control_characters,
          .most = limit_of(most)};
}

Schema draft_body(std::size_t most, std::string description) {
  return {.type = "string", .description = std::move(description), .most = limit_of(most)};
}

Schema revision_number(std::string description) {
  return {.type = "integer", .description = std::move(description), .least = 1, .most = reminders::largest_revision};
}

Schema decimal(std::string description) {
  return {.type = "string", .description = std::move(description), .example = R"("1500.00")"};
}

std::vector<Property> draft_text_properties(Presence presence) {
  return {{"email_subject", draft_line(ReminderLimits::subject_bytes, "The subject."), presence},
          {"email_content", draft_body(ReminderLimits::text_bytes, "The plain text."), presence},
          {"email_html", draft_body(ReminderLimits::html_bytes, "The HTML, if there is one.")}};
}

// Of a decision, which has a person.
constexpr const char* without_key = ", required where there are no API keys";

Property person(std::string_view name, const std::string& what, const std::string& more = "") {
  return {name,
          {.type = "string",
           .description = what + ": a person or a program; the name of the API key by default" + more + ".",
           .pattern = person_pattern,
           .most = limit_of(ReminderLimits::person_bytes)}};
}

Schema with_properties(std::vector<Property> properties, std::vector<Property> more) {
  for (Property& property : more) properties.push_back(std::move(property));
  return {.type = "object", .properties = std::move(properties), .closed = true};
}

Schema new_draft_schema() {
  Schema schema = with_properties(
      {{"customer_id", draft_line(ReminderLimits::id_bytes, "The customer."), required},
       {"reminder_type", draft_line(ReminderLimits::id_bytes, "A type that there is a rule for, such as first."),
        required},
       {"template_id", draft_line(ReminderLimits::id_bytes, "The template; or a text, but not both.")},
       {"variables", like("Variables", "Values of placeholders, besides those that Postino knows.")},
       person("created_by", "Who drafts it")},
      draft_text_properties(optional));
  schema.example = R"({"customer_id":"cust_001","reminder_type":"first","template_id":"reminder_first"})";
  return schema;
}

Schema error_of_draft() {
  const Schema fault{.type = "object", .properties = {{"field", text(), required}, {"rule", text(), required}}};
  return {.type = "object",
          .properties = {{"code", text("Error code for programs."), required},
                         {"message", text("Explanation for people."), required},
                         {"errors", list_of(fault)},
                         {"rule", text("What refuses the reminder.")},
                         {"allowed_from", time("When that rule will allow it.")}}};
}

Schema draft_results() {
  const Schema result{.type = "object",
                      .properties = {{"customer_id", text(), required},
                                     {"reminder_type", text(), required},
                                     {"draft", like("Draft")},
                                     {"error", error_of_draft()}}};
  const Schema summary{
      .type = "object",
      .properties = {{"total", count(), required}, {"successful", count(), required}, {"failed", count(), required}}};
  return {.type = "object",
          .properties = {
              {"results", list_of(result, "In the order of the request; each with a draft or an error."), required},
              {"summary", summary, required}}};
}

Schema decision() {
  const Schema record{.type = "object",
                      .properties = {{"reminder_type", text(), required},
                                     {"sent_date", time(), required},
                                     {"record", text("Key of the record."), required}}};
  return {.type = "object",
          .description = "What the rules say.",
          .properties = {
              {"allowed", flag(), required},
              {"rule",
               {.type = "string",
                .choices = {"allowed", "unknown_type", "too_soon", "missing_before", "too_soon_after", "stopped"}},
               required},
              {"allowed_from", time("When it will be allowed, if waiting is enough.")},
              {"explanation", text("For people."), required},
              {"rests_on", list_of(record, "The reminders that decided."), required}}};
}

std::vector<Property> shown_text_properties() {
  return {{"email_subject", text(), required}, {"email_content", text(), required}, {"email_html", text()}};
}

std::vector<Property> overdue_properties() {
  return {{"overdue_amount", decimal("What was overdue then, in the currency of the oldest overdue invoice.")},
          {"currency", text()},
          {"overdue_totals", list_of(text(), "With several currencies: the sum of each, such as 1500.00 EUR.")},
          {"overdue_invoices", list_of(text()), required}};
}

Schema open(std::vector<Property> properties, std::initializer_list<std::vector<Property>> more) {
  for (const std::vector<Property>& others : more) properties.insert(properties.end(), others.begin(), others.end());
  return {.type = "object", .properties = std::move(properties)};
}

Schema draft_schema() {
  return open(
      {{"id", text("Id of the draft."), required},
       {"customer_id", text(), required},
       {"customer_name", text(), required},
       {"customer_email", text(), required},
       {"reminder_type", text(), required},
       {"revision", count("Number of the current text."), required},
       {"status", {.type = "string", .choices = {"draft", "approved", "rejected", "withdrawn", "expired"}}, required},
       {"reason", text("Why it was rejected or withdrawn.")},
       {"template_id", text()},
       {"template_version", count("The version that it was made from.")},
       {"branding", text()},
       {"variables", {.type = "object", .elements = {text()}}},
       {"created_by", text(), required},
       {"created_date", time(), required},
       {"revised_by", text()},
       {"updated_date", time(), required},
       {"expires_date", time("When it can no longer be approved."), required},
       {"decided_by", text()},
       {"decided_date", time()},
       {"sent_id", text("Id of the reminder that it became.")},
       {"decision", like("Decision"), required},
       {"stopped", text("Why it cannot be approved at all: the customer gets no reminders, or there is no sender.")}},
      {shown_text_properties(), overdue_properties()});
}

Schema sent_reminder() {
  return open({{"id", text("Id of the reminder, unique within the customer."), required},
               {"customer_id", text(), required},
               {"customer_name", text()},
               {"customer_email", text()},
               {"reminder_type", text(), required},
               {"sent_date", time("When it was approved."), required},
               {"approved_by", text(), required},
               {"status",
                {.type = "string",
                 .description = "failed: the customer did not get it, and it does not count for the rules.",
                 .choices = {"sent", "failed"}},
                required},
               {"delivery_status",
                text("queued, sent (the mail server has taken it), failed, bounced or cancelled; another word if "
                     "another program wrote it."),
                required},
               {"delivered_date", time("When the mail server took it.")},
               {"failure", text("Why it failed, bounced or was cancelled.")},
               {"email_id", text("Id of the e-mail in the outbox; absent if another program sent it.")},
               {"message_id", text("Message-ID of the e-mail.")},
               {"ses_message_id", text("The same.")},
               {"draft_id", text()},
               {"revision", count("The revision that was approved.")},
               {"template_id", text()},
               {"template_version", count()}},
              {shown_text_properties(), overdue_properties()});
}

Schema revision_schema() {
  return open({{"revision", count(), required}, {"revised_by", text(), required}, {"revised_date", time(), required}},
              {shown_text_properties()});
}

Schema revision_diff() {
  const Schema lines = list_of(text(), "Lines with a space, a minus or a plus sign before them.");
  return {.type = "object",
          .properties = {{"from", count(), required},
                         {"to", count(), required},
                         {"email_subject", lines, required},
                         {"email_content", lines, required},
                         {"email_html", lines, required}}};
}

Schema rule_schema() {
  return {.type = "object",
          .properties = {{"reminder_type", text(), required},
                         {"pause", like("Duration", "Since the last reminder of this type."), required},
                         {"follows", text("The type that the customer must have got before.")},
                         {"after_followed", like("Duration", "Since the last reminder of that type.")}}};
}

Schema counts_by_name(std::string description) {
  return {.type = "object", .description = std::move(description), .elements = {count()}};
}

Schema audit_event() {
  return {.type = "object",
          .properties = {{"id", text(), required},
                         {"at", time(), required},
                         {"actor", text("The person or program."), required},
                         {"key", text("The name of the API key.")},
                         {"from", text("The address that the request came from.")},
                         {"action", {.type = "string", .example = R"("draft.approved")"}, required},
                         {"subject", {.type = "string", .example = R"("drafts/20250921_143022_cust_001")"}, required},
                         {"details", {.type = "object", .elements = {text()}}, required}}};
}

Schema listed(std::string_view element) {
  return {.type = "object", .properties = {{"data", list_of(like(element)), required}}};
}

}  // namespace

std::vector<NamedSchema> draft_schemas() {
  return {
      {"NewDraft", new_draft_schema()},
      {"NewDrafts",
       {.type = "object",
        .properties =
            {{"drafts",
              {.type = "array", .least = 1, .most = limit_of(reminders::most_in_bulk), .elements = {like("NewDraft")}},
              required}},
        .closed = true}},
      {"DraftResults", draft_results()},
      {"NewRevision", with_properties({{"revision", revision_number("The revision that was seen."), required},
                                       person("revised_by", "Who revises it")},
                                      draft_text_properties(required))},
      {"Approval", with_properties({{"revision", revision_number("The revision that was seen, and is sent."), required},
                                    person("approved_by", "Who approves it", without_key)},
                                   {})},
      {"NamedApproval",
       with_properties({{"draft_id", draft_line(ReminderLimits::draft_id_bytes, "The draft."), required},
                        {"revision", revision_number("The revision that was seen, and is sent."), required},
                        person("approved_by", "Who approves it", without_key)},
                       {})},
      {"Rejection",
       with_properties({{"revision", revision_number("The revision that was seen."), required},
                        {"reason", draft_line(ReminderLimits::reason_bytes, "Why it is rejected."), required},
                        person("rejected_by", "Who rejects it", without_key)},
                       {})},
      {"Variables",
       {.type = "object",
        .most = limit_of(ReminderLimits::variables),
        .elements = {{.type = "string", .most = limit_of(ReminderLimits::variable_bytes)}}}},
      {"Decision", decision()},
      {"Draft", draft_schema()},
      {"DraftPage", page_of_records("Draft")},
      {"Revision", revision_schema()},
      {"RevisionList", listed("Revision")},
      {"RevisionDiff", revision_diff()},
      {"SentReminder", sent_reminder()},
      {"SentReminderPage", page_of_records("SentReminder")},
      {"Rule", rule_schema()},
      {"RuleList", listed("Rule")},
      {"Explanation",
       {.type = "object",
        .properties = {{"customer_id", text(), required},
                       {"reminder_type", text(), required},
                       {"decision", like("Decision"), required},
                       {"stopped", text("Why the customer gets no reminders at all.")},
                       {"overdue", like("Overdue", "Of a customer who has a record.")}}}},
      {"DaySummary",
       {.type = "object",
        .properties = {{"date", {.type = "string", .format = "date"}, required},
                       {"counts", counts_by_name("What happened, and how often."), required},
                       {"sent_by_type", counts_by_name("Reminders that mail servers have taken, by their types."),
                        required}}}},
      {"AuditEvent", audit_event()},
      {"AuditEventPage", page_of("AuditEvent")},
  };
}

}  // namespace postino::api
