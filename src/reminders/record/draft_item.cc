#include "reminders/record/draft_item.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "base/hash.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/reminder_fields.h"

namespace postino::reminders {

namespace {

constexpr std::array<std::pair<DraftStatus, std::string_view>, 5> draft_statuses = {{
    {DraftStatus::draft, "draft"},
    {DraftStatus::approved, "approved"},
    {DraftStatus::rejected, "rejected"},
    {DraftStatus::withdrawn, "withdrawn"},
    {DraftStatus::expired, "expired"},
}};

std::string hash_of_parts(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all.append(std::to_string(part.size())).append(":").append(part);
  return base::to_hex(base::sha256(all));
}

}  // namespace

std::string_view name_of(DraftStatus status) {
  return std::ranges::find(draft_statuses, status, &std::pair<DraftStatus, std::string_view>::first)->second;
}

std::optional<DraftStatus> parse_draft_status(std::string_view name) {
  const auto* const found = std::ranges::find(draft_statuses, name, &std::pair<DraftStatus, std::string_view>::second);
  return found != draft_statuses.end() ? std::optional(found->first) : std::nullopt;
}

std::string hash_of(const Draft& draft) {
  return hash_of_parts({draft.text.subject, draft.text.body, draft.text.html, draft.customer_name, draft.customer_email,
                        draft.reminder_type, draft.from, draft.reply_to});
}

std::string hash_of_text(const DraftText& text) { return hash_of_parts({text.subject, text.body, text.html}); }

bool is_hash_of(std::string_view hash, const Draft& draft) {
  return hash == hash_of(draft) || hash == hash_of_text(draft.text);
}

item::Item draft_item(const Keys& keys, const Draft& draft) {
  const std::string_view status = name_of(draft.status);
  item::Item item = Keys::key(keys.customer(draft.customer_id), std::string(draft_begin) + draft.id);
  item.set("GSI1PK", keys.status(status, draft.id));
  item.set("GSI1SK", seed_time(draft.created_at));
  set_reminder_fields(item, draft);
  item.set("status", status);
  item.set("created_date", seed_time(draft.created_at));
  item.set("created_at_ms", base::epoch_milliseconds(draft.created_at));
  set_text(item, "created_by", draft.created_by);
  item.set("revision", draft.revision);
  item.set("text_hash", hash_of(draft));
  set_text(item, "branding", draft.branding);
  set_text(item, "email_from", draft.from);
  set_text(item, "email_reply_to", draft.reply_to);
  if (!draft.variables.empty()) {
    item::Map variables;
    for (const auto& [name, value] : draft.variables) variables.set(name, value);
    item.set("variables", std::move(variables));
  }
  set_text(item, "reason", draft.reason);
  set_text(item, "created_key", draft.created_key);
  set_text(item, "revised_by", draft.revised_by);
  set_text(item, "revised_key", draft.revised_key);
  set_moment(item, "revised_at_ms", draft.revised_at);
  set_text(item, "decided_by", draft.decided_by);
  set_moment(item, "decided_at_ms", draft.decided_at);
  set_text(item, "sent_record", draft.sent_record);
  set_text(item, "decision_token", draft.decision_token);
  item.set("updated_at_ms", base::epoch_milliseconds(draft.updated_at));
  item.set("version", draft.version);
  item.set(std::string(ttl_attribute), base::epoch_seconds(draft.created_at + draft_life));
  return item;
}

base::Result<Draft> read_draft(const item::Item& item, const std::string& usual_currency) {
  ItemFields fields(item);
  Draft draft;
  draft.id = fields.sort_after(draft_begin);
  const auto parts = parse_draft_id(draft.id);
  // The key decides: the draft is found by it.
  draft.customer_id = parts ? parts->customer_id : fields.text("customer_id");
  read_reminder_fields(fields, draft, usual_currency);
  draft.revision = std::max(1, fields.count("revision"));
  draft.text_hash = fields.text("text_hash");
  draft.branding = fields.text("branding");
  draft.from = fields.text("email_from");
  draft.reply_to = fields.text("email_reply_to");
  if (const item::Map* const variables = fields.map("variables"))
    for (const item::Attribute& each : *variables)
      if (const auto* const text = each.value.get_if<std::string>()) draft.variables[each.name] = *text;
  draft.reason = fields.text("reason");
  draft.created_by = fields.text("created_by");
  draft.created_key = fields.text("created_key");
  draft.revised_by = fields.text("revised_by");
  draft.revised_key = fields.text("revised_key");
  draft.revised_at = fields.moment("revised_at_ms");
  draft.decided_by = fields.text("decided_by");
  draft.decided_at = fields.moment("decided_at_ms");
  draft.sent_record = fields.text("sent_record");
  draft.decision_token = fields.text("decision_token");
  draft.version = std::max<std::int64_t>(0, fields.whole("version"));
  const auto of_key = parts ? parse_key_time(parts->time) : std::nullopt;
  draft.created_at = fields.time_of_record("created_at_ms", "created_date", of_key).value_or(base::TimePoint());
  draft.updated_at = fields.moment("updated_at_ms").value_or(draft.created_at);
  const std::string status = fields.text("status");
  // A program that sends by itself marks its drafts as sent.
  const auto known = status == "sent" ? DraftStatus::approved : parse_draft_status(status.empty() ? "draft" : status);
  TRY_VOID(fields.check());
  const std::string record = "the record " + key_text(item) + " cannot be read: ";
  if (!parts) return base::fail(base::ErrorCode::corrupt, record + "SK must be DRAFT#{timestamp}_{customer_id}");
  if (!known) return base::fail(base::ErrorCode::corrupt, record + "status is none of a draft");
  draft.status = *known;
  return draft;
}

item::Item revision_item(const Keys& keys, const std::string& customer_id, base::TimePoint created_at,
                         const Revision& revision) {
  item::Item item = Keys::key(keys.customer(customer_id), revision_sort(revision.draft_id, revision.number));
  item.set("draft_id", revision.draft_id);
  item.set("revision", revision.number);
  item.set("email_subject", revision.text.subject);
  item.set("email_content", revision.text.body);
  set_text(item, "email_html", revision.text.html);
  set_text(item, "author", revision.author);
  item.set("created_at_ms", base::epoch_milliseconds(revision.at));
  item.set(std::string(ttl_attribute), base::epoch_seconds(created_at + draft_life));
  return item;
}

item::Item noted_revision_item(const Keys& keys, const Draft& draft) {
  item::Item item = Keys::key(keys.customer(draft.customer_id), revision_sort(draft.id, 0));
  item.set("draft_id", draft.id);
  item.set("noted", draft.revision);
  item.set("text_hash", hash_of(draft));
  item.set(std::string(ttl_attribute), base::epoch_seconds(draft.created_at + draft_life));
  return item;
}

base::Result<Revision> read_revision(const item::Item& item) {
  ItemFields fields(item);
  Revision revision;
  revision.draft_id = fields.text("draft_id");
  revision.number = fields.count("revision");
  revision.text = {fields.text("email_subject"), fields.text("email_content"), fields.text("email_html")};
  revision.author = fields.text("author");
  revision.at = fields.moment("created_at_ms").value_or(base::TimePoint());
  TRY_VOID(fields.check());
  return revision;
}

}  // namespace postino::reminders
