#include "access/audit_reader.h"

#include <algorithm>
#include <charconv>

#include "access/audit_items.h"
#include "access/audit_verification.h"
#include "access/caller_scope.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"

namespace postino::access {

namespace {

// Of one call.
constexpr int most_looked_at = 2'000;
constexpr int most_days = 400;

base::TimePoint day_of(base::TimePoint time) { return base::end_of_day(time) - std::chrono::days(1); }

// As texts compare, which are those of sort keys.
std::string key_of(base::TimePoint time) { return base::format_timestamp(time); }

// A cursor is good for the same question alone.
std::string name_of(const AuditQuestion& question) {
  std::string name = "audit";
  for (const std::string* const part : {&question.actor, &question.action, &question.subject, &question.result})
    name.append("\n").append(*part);
  for (const auto& time : {question.since, question.until}) name.append("\n").append(time ? key_of(*time) : "");
  return name;
}

bool fits(const AuditEntry& entry, const AuditQuestion& question) {
  const AuditEvent& event = entry.event;
  return (question.tenant.empty() || event.tenant == question.tenant) &&
         (question.actor.empty() || event.actor == question.actor) && event.action.starts_with(question.action) &&
         event.subject.starts_with(question.subject) && (question.result.empty() || event.result == question.result);
}

// From the last day of a question to the first, as far as one call goes.
struct Walk {
  const AuditQuestion& question;
  store::Page<AuditEntry> page;
  std::string position = {};  // of the last item that was looked at
  int looked_at = 0;
  bool is_over = false;

  // False when it is enough.
  bool see(const item::Item& item) {
    const std::string key = item::attribute_text(item, "SK");
    if (question.since && key < key_of(*question.since)) {
      is_over = true;
      return false;
    }
    position = key;
    ++looked_at;
    if (auto entry = read_audit_entry(item); !entry)
      page.unreadable += question.tenant.empty() ? 1 : 0;
    else if (fits(*entry, question))
      page.entries.push_back(*std::move(entry));
    return page.entries.size() < static_cast<std::size_t>(question.limit) && looked_at < most_looked_at;
  }
};

}  // namespace

base::Result<KnownEntry> parse_known_entry(std::string_view text) {
  constexpr const char* rule = "must be CHAIN:NUMBER:DIGEST, as an earlier verification has told";
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos || first == 0) return base::invalid(rule);
  KnownEntry entry;
  entry.chain = text.substr(0, first);
  const std::string_view number = text.substr(first + 1, second - first - 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), entry.number);
  entry.digest = text.substr(second + 1);
  constexpr std::size_t digest_length = 64;
  if (error != std::errc() || end != number.data() + number.size() || entry.number < 1 ||
      entry.digest.size() != digest_length)
    return base::invalid(rule);
  return entry;
}

std::string text_of(const AuditHead& head) {
  return head.chain + ":" + std::to_string(head.number) + ":" + head.digest;
}

// Of the oldest chain. nullopt: there is none.
store::Answer<std::optional<base::TimePoint>> AuditReader::first_day() {
  std::optional<base::TimePoint> first;
  TRY_VOID(AuditItems{store_, table_, retry_}.walk(std::string(chains_partition), true, "", [&](const auto& item) {
    if (const auto chain = read_audit_chain(item); chain && (!first || chain->begun_at < *first))
      first = chain->begun_at;
    return true;
  }));
  return first ? std::optional(day_of(*first)) : std::nullopt;
}

base::Result<store::Page<AuditEntry>> AuditReader::list(const AuditQuestion& question) {
  CallerScope::check(question.tenant);
  const std::string list = name_of(question);
  std::string position;
  if (!question.cursor.empty()) {
    TRY(const std::string cursor, store::read_tenant_cursor(question.tenant, question.cursor));
    TRY(position, store::read_cursor(list, cursor));
  }
  auto first = first_day();
  if (!first) return base::propagate(store::as_error(first.error()));
  Walk walk{question, {}};
  if (!*first) return walk.page;
  const base::TimePoint begin = question.since ? std::max(day_of(*question.since), **first) : **first;
  base::TimePoint day = day_of(clock_.now());
  if (question.until) day = std::min(day, day_of(*question.until));
  if (!position.empty()) {
    const auto reached = base::parse_timestamp(position.substr(0, position.find('#')));
    if (!reached) return base::invalid("cursor must be that of an earlier page");
    day = day_of(*reached);
  } else if (question.until) {
    position = key_of(*question.until);  // keys of that moment go on after it
  }
  const AuditItems items{store_, table_, retry_};
  for (int days = 0; day >= begin && !walk.is_over; day -= std::chrono::days(1), ++days) {
    const bool is_same_day = position.starts_with(key_of(day).substr(0, 10));
    bool is_enough = days == most_days;
    // Where the next call goes on, if there is nothing in between.
    if (walk.position.empty() || is_enough) walk.position = key_of(day + std::chrono::days(1));
    if (!is_enough) {
      const auto read = items.walk(audit_partition(day), false, is_same_day ? position : "", [&](const auto& item) {
        is_enough = !walk.see(item);
        return !is_enough;
      });
      if (!read) return base::propagate(store::as_error(read.error()));
    }
    if (!is_enough || walk.is_over) continue;
    walk.page.cursor = store::tenant_cursor(question.tenant, store::make_cursor(list, walk.position));
    break;
  }
  return std::move(walk.page);
}

base::Result<AuditVerdict> AuditReader::verify(const std::vector<KnownEntry>& known) {
  const std::unique_lock one(verifying_, std::try_to_lock);
  if (!one.owns_lock()) return base::fail(base::ErrorCode::conflict, "another call verifies the audit at the moment");
  const AuditItems items{store_, table_, retry_};
  // What seems to be missing may have been written meanwhile, to a day that was read already: a fault is there twice.
  for (int round = 0;; ++round) {
    auto verdict = AuditVerification(items, clock_.now(), known).run();
    if (!verdict) return base::propagate(store::as_error(verdict.error()));
    if (verdict->is_intact() || round == 1) return *std::move(verdict);
  }
}

}  // namespace postino::access
