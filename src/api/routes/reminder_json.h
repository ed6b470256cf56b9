// Reminders as the API shows them: drafts, what was sent, customers, invoices, templates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/protocol/problem.h"
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

// Of one thing, and of `now` where the answer depends on it.
template <class T, class... More>
std::string reminder_json(const T& value, const More&... more) {
  std::string text;
  json::Writer json(text);
  write_json(json, value, more...);
  return text;
}

// {"data":[...]
template <class T, class... More>
void write_entries(json::Writer& json, const std::vector<T>& entries, const More&... more) {
  json.key("data").begin_array();
  for (const T& entry : entries) write_json(json, entry, more...);
  json.end_array();
}

// {"data":[...]}
template <class T>
std::string reminder_list_json(const std::vector<T>& entries) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  write_entries(json, entries);
  json.end_object();
  return text;
}

// {"data":[...],"cursor":"..."}, with null at the end, and perhaps "unreadable".
template <class T, class... More>
std::string reminder_page_json(const reminders::Page<T>& page, const More&... more) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  write_entries(json, page.entries, more...);
  json.key("cursor");
  if (page.cursor.empty())
    json.null();
  else
    json.string(page.cursor);
  if (page.unreadable > 0) json.key("unreadable").integer(page.unreadable);
  json.end_object();
  return text;
}

// Of one draft among several: the draft, or what is against it.
struct BulkResult {
  std::optional<reminders::ShownDraft> draft;
  std::string error;  // JSON
};
std::string bulk_error_json(reminders::Refusal refusal);
// A result for each, in the order of what was asked for.
std::string bulk_json(const std::vector<reminders::NewDraft>& asked, const std::vector<BulkResult>& results);

}  // namespace postino::api
