// Reminders as the API shows them: drafts, what was sent, customers, invoices, templates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/protocol/problem.h"
#include "api/routes/json_answer.h"
#include "json/writer.h"
#include "reminders/reminders.h"

namespace postino::api {

void write_json(json::Writer& json, const reminders::Decision& decision);
void write_json(json::Writer& json, const reminders::ShownDraft& shown);
void write_json(json::Writer& json, const reminders::Revision& revision);
void write_json(json::Writer& json, const reminders::RevisionDiff& diff);
void write_json(json::Writer& json, const reminders::SentReminder& sent);
void write_json(json::Writer& json, const reminders::Rule& rule);
void write_json(json::Writer& json, const reminders::AuditEvent& event);
void write_json(json::Writer& json, const reminders::DaySummary& summary);
void write_json(json::Writer& json, const reminders::Customer& customer);
void write_json(json::Writer& json, const reminders::Customer& customer,
                const std::vector<reminders::LastSent>& last_reminders);
void write_json(json::Writer& json, const reminders::Stopping<reminders::Customer>& customer);
void write_json(json::Writer& json, const reminders::Invoice& invoice, base::TimePoint now);
void write_json(json::Writer& json, const reminders::Stopping<reminders::Invoice>& invoice, base::TimePoint now);
void write_json(json::Writer& json, const reminders::Overdue& overdue, base::TimePoint now);
void write_json(json::Writer& json, const reminders::ImportReport& report);
void write_json(json::Writer& json, const reminders::ErasureReport& report);
void write_json(json::Writer& json, const reminders::TemplateVersion& version);
void write_json(json::Writer& json, const reminders::TemplateSummary& summary);
void write_json(json::Writer& json, const reminders::Rendered& rendered);
void write_json(json::Writer& json, const reminders::Branding& branding);
// With the records that decide.
void write_json(json::Writer& json, const reminders::Drafts::Explanation& explanation, base::TimePoint now);

// Of one draft among several: the draft, or what is against it.
struct BulkResult {
  std::optional<reminders::ShownDraft> draft;
  std::string error;  // JSON
};
std::string bulk_error_json(reminders::Refusal refusal);
// A result for each, in the order of what was asked for.
std::string bulk_json(const std::vector<reminders::NewDraft>& asked, const std::vector<BulkResult>& results);

}  // namespace postino::api
