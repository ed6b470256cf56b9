#include "access/audit_entry.h"

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "item/fields.h"

namespace postino::access {

namespace {

constexpr std::size_t most_text = 512;
constexpr std::size_t number_digits = 12;
// A chain's record stays a while longer than its entries, so that it is never missed before they are.
constexpr std::int64_t record_stays_on = 24 * 3600;

std::string padded(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(number_digits - std::min(number_digits, digits.size()), '0') + digits;
}

// With its length in front, no value can pass for the end of one and the beginning of the next.
void add(std::string& text, std::string_view value) {
  text.append(std::to_string(value.size())).append(":").append(value).append(",");
}
void add(std::string& text, std::int64_t value) { add(text, std::to_string(value)); }

// "CHAIN NUMBER DIGEST MILLISECONDS SECONDS;..."
std::string text_of(const std::vector<AuditHead>& heads) {
  std::string text;
  for (const AuditHead& head : heads)
    text.append(text.empty() ? "" : ";")
        .append(head.chain)
        .append(" ")
        .append(std::to_string(head.number))
        .append(" ")
        .append(head.digest)
        .append(" ")
        .append(std::to_string(base::epoch_milliseconds(head.at)))
        .append(" ")
        .append(std::to_string(head.gone_by));
  return text;
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool read_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

base::Result<std::vector<AuditHead>> read_heads(std::string_view text) {
  std::vector<AuditHead> heads;
  while (!text.empty()) {
    std::string_view one = take_until(text, ';');
    AuditHead head;
    head.chain = take_until(one, ' ');
    std::int64_t at = 0;
    const bool numbered = read_number(take_until(one, ' '), head.number);
    head.digest = take_until(one, ' ');
    if (!numbered || !read_number(take_until(one, ' '), at) || !read_number(one, head.gone_by))
      return base::fail(base::ErrorCode::corrupt, "it names other chains in no form that is known");
    head.at = base::from_epoch_milliseconds(at);
    heads.push_back(std::move(head));
  }
  return heads;
}

base::TimePoint read_time(item::Fields& fields, std::string_view name) {
  const auto time = base::parse_timestamp(fields.text(name));
  if (!time) fields.fault(name, "must be a time");
  return time ? *time : base::TimePoint();
}

// One of the words that there are, so that what points to it stays.
std::string_view read_word(item::Fields& fields, std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string text = fields.text(name);
  const auto* const found = std::ranges::find(words, text);
  if (found != words.end()) return *found;
  fields.fault(name, "must be a word that is known");
  return {};
}

void set_text(item::Item& item, std::string_view name, const std::string& text) {
  if (!text.empty()) item.set(std::string(name), text);
}

}  // namespace

AuditHead AuditEntry::head() const { return {chain, number, digest, at, std::max(earlier_gone_by, expires_at)}; }

std::string digest_of(const AuditEntry& entry) {
  std::string text = "postino audit 1\n";
  add(text, entry.chain);
  add(text, entry.number);
  add(text, entry.previous);
  add(text, base::epoch_milliseconds(entry.at));
  add(text, entry.expires_at);
  add(text, entry.earlier_gone_by);
  const AuditEvent& event = entry.event;
  for (const std::string_view value :
       {std::string_view(event.actor), event.kind, std::string_view(event.tenant), std::string_view(event.from),
        std::string_view(event.action), std::string_view(event.subject), event.result, std::string_view(event.detail),
        std::string_view(event.request_id)})
    add(text, value);
  add(text, text_of(entry.others));
  return base::to_hex(base::sha256(text));
}

AuditEvent within_limits(AuditEvent event) {
  for (std::string* const text :
       {&event.actor, &event.tenant, &event.from, &event.action, &event.subject, &event.detail, &event.request_id}) {
    std::string clean;
    base::append_printable(clean, *text, most_text);
    *text = std::move(clean);
  }
  return event;
}

std::string audit_partition(base::TimePoint at) { return "DAY#" + base::format_timestamp(at).substr(0, 10); }

std::string audit_sort_key(base::TimePoint at, std::string_view chain, std::int64_t number) {
  return base::format_timestamp(at).append("#").append(chain).append("#").append(padded(number));
}

item::Item item_of(const AuditEntry& entry) {
  const AuditEvent& event = entry.event;
  item::Item item{{"PK", audit_partition(entry.at)},
                  {"SK", audit_sort_key(entry.at, entry.chain, entry.number)},
                  {"entity_type", "audit_entry"},
                  {"chain", entry.chain},
                  {"number", entry.number},
                  {"at", base::format_timestamp(entry.at)},
                  {"ttl", entry.expires_at},
                  {"earlier_gone_by", entry.earlier_gone_by},
                  {"kind", std::string(event.kind)},
                  {"action", event.action},
                  {"result", std::string(event.result)},
                  {"digest", entry.digest}};
  set_text(item, "previous", entry.previous);
  set_text(item, "actor", event.actor);
  set_text(item, "tenant", event.tenant);
  set_text(item, "from", event.from);
  set_text(item, "subject", event.subject);
  set_text(item, "detail", event.detail);
  set_text(item, "request_id", event.request_id);
  set_text(item, "others", text_of(entry.others));
  return item;
}

base::Result<AuditEntry> read_audit_entry(const item::Item& item) {
  item::Fields fields(item);
  AuditEntry entry;
  AuditEvent& event = entry.event;
  entry.chain = fields.text("chain");
  entry.number = fields.count("number");
  entry.at = read_time(fields, "at");
  entry.previous = fields.text("previous");
  entry.expires_at = fields.whole("ttl");
  entry.earlier_gone_by = fields.whole("earlier_gone_by");
  entry.digest = fields.text("digest");
  event.actor = fields.text("actor");
  event.kind = read_word(fields, "kind",
                         {AuditEvent::user, AuditEvent::api_key, AuditEvent::access_key, AuditEvent::local,
                          AuditEvent::unknown, AuditEvent::server});
  event.tenant = fields.text("tenant");
  event.from = fields.text("from");
  event.action = fields.text("action");
  event.subject = fields.text("subject");
  event.result = read_word(fields, "result", {AuditEvent::allowed, AuditEvent::refused, AuditEvent::failed});
  event.detail = fields.text("detail");
  event.request_id = fields.text("request_id");
  const std::string others = fields.text("others");
  TRY_VOID(fields.check("entry of the audit"));
  TRY(entry.others, read_heads(others));
  return entry;
}

item::Item item_of(const AuditChainRecord& record) {
  const AuditHead& head = record.head;
  item::Item item{{"PK", std::string(chains_partition)},
                  {"SK", head.chain},
                  {"entity_type", "audit_chain"},
                  {"number", head.number},
                  {"digest", head.digest},
                  {"at", base::format_timestamp(head.at)},
                  {"begun_at", base::format_timestamp(record.begun_at)},
                  {"gone_by", head.gone_by},
                  {"ttl", head.gone_by + record_stays_on}};
  set_text(item, "owner", record.owner);
  return item;
}

base::Result<AuditChainRecord> read_audit_chain(const item::Item& item) {
  item::Fields fields(item);
  AuditChainRecord record;
  record.head.chain = fields.text("SK");
  record.head.number = fields.count("number");
  record.head.digest = fields.text("digest");
  record.head.at = read_time(fields, "at");
  record.head.gone_by = fields.whole("gone_by");
  record.begun_at = read_time(fields, "begun_at");
  record.owner = fields.text("owner");
  TRY_VOID(fields.check("chain of the audit"));
  return record;
}

}  // namespace postino::access
