#include "api/routes/reminder_json.h"

#include "api/routes/json_members.h"
#include "base/timestamp.h"
#include "messages/iso_duration.h"

namespace postino::api {

namespace {

void number_member(json::Writer& json, std::string_view name, std::int64_t number) {
  if (number > 0) json.key(name).integer(number);
}

void texts_member(json::Writer& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void text_members(json::Writer& json, const reminders::DraftText& text) {
  json.key("email_subject").string(text.subject);
  json.key("email_content").string(text.body);
  text_member(json, "email_html", text.html);
}

// Of a draft or of a reminder.
template <class Record>
void overdue_members(json::Writer& json, const Record& record) {
  if (record.overdue_amount) {
    json.key("overdue_amount").string(record.overdue_amount->amount_text());
    json.key("currency").string(record.overdue_amount->currency);
  }
  if (!record.overdue_totals.empty()) texts_member(json, "overdue_totals", record.overdue_totals);
  texts_member(json, "overdue_invoices", record.overdue_invoices);
}

void write_money(json::Writer& json, const reminders::Money& money) {
  json.begin_object();
  json.key("amount").string(money.amount_text());
  json.key("currency").string(money.currency);
  json.end_object();
}

void write_diff(json::Writer& json, std::string_view name, const std::vector<reminders::DiffLine>& lines) {
  json.key(name).begin_array();
  for (const reminders::DiffLine& line : lines) json.string(std::string(1, line.sign) + line.line);
  json.end_array();
}

void write_counts(json::Writer& json, std::string_view name, const std::map<std::string, std::int64_t>& counts) {
  json.key(name).begin_object();
  for (const auto& [each, count] : counts) json.any_key(each).integer(count);
  json.end_object();
}

std::string_view status_of(const reminders::Invoice& invoice, base::TimePoint now) {
  if (invoice.is_paid()) return "paid";
  return reminders::is_overdue(invoice, now) ? "overdue" : "unpaid";
}

void write_records(json::Writer& json, std::string_view name, const std::vector<reminders::LastSent>& records) {
  json.key(name).begin_array();
  for (const reminders::LastSent& sent : records) {
    json.begin_object();
    json.key("reminder_type").string(sent.type);
    time_member(json, "sent_date", sent.at);
    json.key("record").string(sent.record);
    json.end_object();
  }
  json.end_array();
}

void write_lines(json::Writer& json, std::string_view name, const std::vector<reminders::ErasureReport::Line>& lines) {
  json.key(name).begin_array();
  for (const reminders::ErasureReport::Line& line : lines) {
    json.begin_object();
    json.key("what").string(line.what);
    number_member(json, "count", line.count);
    text_member(json, "why", line.why);
    json.end_object();
  }
  json.end_array();
}

void write_error(json::Writer& json, const Problem& problem) {
  json.begin_object();
  json.key("code").string(problem.type.code);
  json.key("message").string(problem.detail);
  write_field_errors(json, problem);
  text_member(json, "rule", problem.rule);
  time_member(json, "allowed_from", problem.allowed_from);
  json.end_object();
}

}  // namespace

void write_json(json::Writer& json, const reminders::Decision& decision) {
  json.begin_object();
  json.key("allowed").boolean(decision.is_allowed());
  json.key("rule").string(name_of(decision.reason));
  time_member(json, "allowed_from", decision.allowed_from);
  json.key("explanation").string(decision.explanation);
  write_records(json, "rests_on", decision.rests_on);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::ShownDraft& shown) {
  const reminders::Draft& draft = shown.draft;
  json.begin_object();
  json.key("id").string(draft.id);
  json.key("customer_id").string(draft.customer_id);
  json.key("customer_name").string(draft.customer_name);
  json.key("customer_email").string(draft.customer_email);
  json.key("reminder_type").string(draft.reminder_type);
  text_members(json, draft.text);
  json.key("revision").integer(draft.revision);
  json.key("status").string(name_of(draft.status));
  text_member(json, "reason", draft.reason);
  text_member(json, "template_id", draft.template_id);
  number_member(json, "template_version", draft.template_version);
  text_member(json, "branding", draft.branding);
  if (!draft.variables.empty()) {
    json.key("variables").begin_object();
    for (const auto& [name, value] : draft.variables) json.any_key(name).string(value);
    json.end_object();
  }
  overdue_members(json, draft);
  json.key("created_by").string(draft.created_by);
  time_member(json, "created_date", draft.created_at);
  text_member(json, "revised_by", draft.revised_by);
  time_member(json, "updated_date", draft.updated_at);
  time_member(json, "expires_date", draft.created_at + reminders::draft_life);
  text_member(json, "decided_by", draft.decided_by);
  time_member(json, "decided_date", draft.decided_at);
  text_member(json, "sent_id", draft.sent_record);
  json.key("decision");
  write_json(json, shown.decision);
  text_member(json, "stopped", shown.stopped);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Revision& revision) {
  json.begin_object();
  json.key("revision").integer(revision.number);
  text_members(json, revision.text);
  json.key("revised_by").string(revision.author);
  time_member(json, "revised_date", revision.at);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::RevisionDiff& diff) {
  json.begin_object();
  json.key("from").integer(diff.from);
  json.key("to").integer(diff.to);
  write_diff(json, "email_subject", diff.subject);
  write_diff(json, "email_content", diff.body);
  write_diff(json, "email_html", diff.html);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::SentReminder& sent) {
  json.begin_object();
  json.key("id").string(sent.id);
  json.key("customer_id").string(sent.customer_id);
  text_member(json, "customer_name", sent.customer_name);
  text_member(json, "customer_email", sent.customer_email);
  json.key("reminder_type").string(sent.reminder_type);
  text_members(json, sent.text);
  time_member(json, "sent_date", sent.sent_at);
  json.key("approved_by").string(sent.approved_by);
  json.key("status").string(sent.counts() ? "sent" : "failed");
  json.key("delivery_status").string(sent.delivery_word.empty() ? name_of(sent.delivery) : sent.delivery_word);
  time_member(json, "delivered_date", sent.delivered_at);
  text_member(json, "failure", sent.failure);
  text_member(json, "email_id", sent.email_id);
  text_member(json, "message_id", sent.message_id);
  text_member(json, "ses_message_id", sent.message_id);
  text_member(json, "draft_id", sent.draft_id);
  number_member(json, "revision", sent.revision);
  text_member(json, "template_id", sent.template_id);
  number_member(json, "template_version", sent.template_version);
  overdue_members(json, sent);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Rule& rule) {
  json.begin_object();
  json.key("reminder_type").string(rule.type);
  json.key("pause").string(messages::format_duration(rule.pause));
  text_member(json, "follows", rule.follows);
  if (!rule.follows.empty()) json.key("after_followed").string(messages::format_duration(rule.after_followed));
  json.end_object();
}

void write_json(json::Writer& json, const reminders::AuditEvent& event) {
  json.begin_object();
  json.key("id").string(event.id);
  time_member(json, "at", event.at);
  json.key("actor").string(event.actor);
  text_member(json, "key", event.key);
  text_member(json, "from", event.from);
  json.key("action").string(event.action);
  json.key("subject").string(event.subject);
  json.key("details").begin_object();
  for (const auto& [name, value] : event.details) json.any_key(name).string(value);
  json.end_object();
  json.end_object();
}

void write_json(json::Writer& json, const reminders::DaySummary& summary) {
  json.begin_object();
  json.key("date").string(summary.date);
  write_counts(json, "counts", summary.counts);
  write_counts(json, "sent_by_type", summary.sent_by_type);
  json.end_object();
}

namespace {

void customer_members(json::Writer& json, const reminders::Customer& customer) {
  json.key("customer_id").string(customer.id);
  json.key("customer_name").string(customer.name);
  json.key("customer_email").string(customer.email);
  json.key("opted_out").boolean(customer.opted_out);
  time_member(json, "opted_out_date", customer.opted_out_at);
  text_member(json, "opted_out_reason", customer.opted_out_reason);
  json.key("hard_bounces").integer(customer.hard_bounces);
  text_member(json, "last_bounce", customer.last_bounce);
  json.key("complaints").integer(customer.complaints);
  text_member(json, "last_complaint", customer.last_complaint);
  json.key("reminders_sent").integer(customer.reminders_sent);
  json.key("late_payments").integer(customer.late_payments);
  json.key("late_payer").boolean(is_late_payer(customer));
  text_member(json, "stopped", why_stopped(customer));
  time_member(json, "created_date", customer.created_at);
  time_member(json, "updated_date", customer.updated_at);
}

void invoice_members(json::Writer& json, const reminders::Invoice& invoice, base::TimePoint now) {
  json.key("customer_id").string(invoice.customer_id);
  json.key("invoice_id").string(invoice.id);
  json.key("amount").string(invoice.amount.amount_text());
  json.key("currency").string(invoice.amount.currency);
  json.key("paid").string(reminders::Money{invoice.paid, invoice.amount.currency}.amount_text());
  json.key("due_date").string(invoice.due_date);
  json.key("status").string(status_of(invoice, now));
  time_member(json, "paid_date", invoice.known_paid_at());
  time_member(json, "created_date", invoice.created_at);
  time_member(json, "updated_date", invoice.updated_at);
}

void recalled_members(json::Writer& json, const reminders::Recalled& recalled) {
  texts_member(json, "cancelled_reminders", recalled.cancelled);
  texts_member(json, "reminders_perhaps_sent", recalled.perhaps_sent);
  texts_member(json, "reminders_being_sent", recalled.being_sent);
  texts_member(json, "reminders_not_cancelled", recalled.not_recalled);
  text_member(json, "why_not_cancelled", recalled.trouble);
}

}  // namespace

void write_json(json::Writer& json, const reminders::Customer& customer) {
  json.begin_object();
  customer_members(json, customer);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Customer& customer,
                const std::vector<reminders::LastSent>& last_reminders) {
  json.begin_object();
  customer_members(json, customer);
  write_records(json, "last_reminders", last_reminders);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Stopping<reminders::Customer>& customer) {
  json.begin_object();
  customer_members(json, customer);
  recalled_members(json, customer.recalled);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Invoice& invoice, base::TimePoint now) {
  json.begin_object();
  invoice_members(json, invoice, now);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Stopping<reminders::Invoice>& invoice, base::TimePoint now) {
  json.begin_object();
  invoice_members(json, invoice, now);
  recalled_members(json, invoice.recalled);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Overdue& overdue, base::TimePoint now) {
  json.begin_object();
  json.key("customer");
  write_json(json, overdue.customer);
  json.key("invoices").begin_array();
  for (const reminders::Invoice& invoice : overdue.invoices) write_json(json, invoice, now);
  json.end_array();
  json.key("totals").begin_array();
  for (const reminders::Money& total : overdue.totals) write_money(json, total);
  json.end_array();
  json.end_object();
}

void write_json(json::Writer& json, const reminders::ImportReport& report) {
  json.begin_object();
  json.key("taken").integer(report.taken);
  json.key("unchanged").integer(report.unchanged);
  json.key("refused").integer(report.refused);
  json.key("lines").begin_array();
  for (const reminders::RefusedLine& line : report.lines) {
    json.begin_object();
    json.key("line").integer(line.line);
    json.key("field").string(line.field);
    json.key("rule").string(line.rule);
    json.end_object();
  }
  json.end_array();
  recalled_members(json, report.recalled);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::ErasureReport& report) {
  json.begin_object();
  write_lines(json, "removed", report.removed);
  write_lines(json, "kept", report.kept);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::TemplateVersion& version) {
  json.begin_object();
  json.key("template_id").string(version.template_id);
  number_member(json, "version", version.version);
  text_member(json, "customer_id", version.customer_id);
  json.key("template_name").string(version.name);
  text_member(json, "template_type", version.type);
  json.key("subject_template").string(version.subject);
  json.key("body_template").string(version.body);
  text_member(json, "html_template", version.html);
  texts_member(json, "required", version.required);
  text_member(json, "branding", version.branding);
  json.key("status").string(version.status == reminders::TemplateStatus::active ? "active" : "inactive");
  json.key("created_by").string(version.created_by);
  time_member(json, "created_date", version.created_at);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::TemplateSummary& summary) {
  json.begin_object();
  json.key("template_id").string(summary.template_id);
  json.key("template_name").string(summary.name);
  text_member(json, "template_type", summary.type);
  number_member(json, "active_version", summary.active_version);
  json.key("latest_version").integer(summary.latest_version);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Rendered& rendered) {
  json.begin_object();
  text_members(json, rendered.text);
  text_member(json, "template_id", rendered.template_id);
  number_member(json, "template_version", rendered.template_version);
  text_member(json, "branding", rendered.branding);
  text_member(json, "from", rendered.from);
  text_member(json, "reply_to", rendered.reply_to);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Branding& branding) {
  json.begin_object();
  json.key("name").string(branding.name);
  text_member(json, "from", branding.from);
  text_member(json, "reply_to", branding.reply_to);
  text_member(json, "company", branding.company);
  text_member(json, "text_footer", branding.text_footer);
  text_member(json, "html_header", branding.html_header);
  text_member(json, "html_footer", branding.html_footer);
  time_member(json, "updated_date", branding.updated_at);
  json.end_object();
}

void write_json(json::Writer& json, const reminders::Drafts::Explanation& explanation, base::TimePoint now) {
  json.begin_object();
  json.key("customer_id").string(explanation.customer_id);
  json.key("reminder_type").string(explanation.reminder_type);
  json.key("decision");
  write_json(json, explanation.decision);
  text_member(json, "stopped", explanation.stopped);
  if (explanation.overdue) {
    json.key("overdue");
    write_json(json, *explanation.overdue, now);
  }
  json.end_object();
}

std::string bulk_error_json(reminders::Refusal refusal) {
  std::string text;
  json::Writer json(text);
  write_error(json, problem_of(std::move(refusal)));
  return text;
}

std::string bulk_json(const std::vector<reminders::NewDraft>& asked, const std::vector<BulkResult>& results) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  std::int64_t successful = 0;
  json.key("results").begin_array();
  for (std::size_t i = 0; i < results.size() && i < asked.size(); ++i) {
    json.begin_object();
    json.key("customer_id").string(asked[i].customer_id);
    json.key("reminder_type").string(asked[i].reminder_type);
    if (results[i].draft) {
      ++successful;
      json.key("draft");
      write_json(json, *results[i].draft);
    } else {
      json.key("error").raw(results[i].error);
    }
    json.end_object();
  }
  json.end_array();
  json.key("summary").begin_object();
  json.key("total").integer(static_cast<std::int64_t>(results.size()));
  json.key("successful").integer(successful);
  json.key("failed").integer(static_cast<std::int64_t>(results.size()) - successful);
  json.end_object();
  json.end_object();
  return text;
}

}  // namespace postino::api
