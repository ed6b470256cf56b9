#include "reminders/customer_records.h"

#include <algorithm>
#include <array>

#include "item/attribute_text.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/invoice.h"
#include "reminders/record/invoice_item.h"

namespace postino::reminders {

namespace {

constexpr base::Milliseconds audit_day = std::chrono::hours(24);
constexpr int most_audit_days = 400;
constexpr std::size_t most_audit_events = 10'000;

struct RecordKind {
  std::string_view sort_key;  // or its beginning, when it ends with '#'
  std::string_view name;
};
constexpr std::array<RecordKind, 10> record_kinds = {{{draft_begin, "drafts"},
                                                      {revision_begin, "revisions"},
                                                      {sent_begin, "sent_reminders"},
                                                      {invoice_begin, "invoices"},
                                                      {unpaid_begin, ""},
                                                      {template_begin, "overrides"},
                                                      {profile_sort, "profile"},
                                                      {guard_sort, "guard"},
                                                      {late_payer_sort, ""},
                                                      {erased_sort, ""}}};

}  // namespace

std::string_view kind_of_record(std::string_view sort_key) {
  const auto* const found = std::ranges::find_if(record_kinds, [&](const RecordKind& kind) {
    return kind.sort_key.ends_with('#') ? sort_key.starts_with(kind.sort_key) : sort_key == kind.sort_key;
  });
  return found != record_kinds.end() ? found->name : "others";
}

Answer<void> read_partition(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                            const std::string& sort_begin,
                            const std::function<Answer<void>(std::vector<item::Item>)>& take) {
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = sort_begin.empty() ? "PK = :pk" : "PK = :pk AND begins_with(SK, :begin)";
  request.placeholders.values = item::Map{{":pk", keys.customer(customer_id)}};
  if (!sort_begin.empty()) request.placeholders.values->set(":begin", sort_begin);
  request.consistent_read = true;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    TRY_VOID(take(std::move(page.items)));
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return {};
}

bool is_about(std::string_view subject, std::string_view customer_id) {
  while (!subject.empty()) {
    const std::string_view part = subject.substr(0, subject.find('/'));
    subject.remove_prefix(std::min(part.size() + 1, subject.size()));
    if (part == customer_id) return true;
    if (const auto draft = parse_draft_id(part); draft && draft->customer_id == customer_id) return true;
  }
  return false;
}

Answer<std::vector<item::Item>> audit_events_of(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                                                base::TimePoint since) {
  const base::TimePoint now = store.clock().now();
  base::TimePoint day = std::max(since, now - most_audit_days * audit_day);
  std::vector<item::Item> events;
  for (; date_of(day) <= date_of(now); day += audit_day) {
    store::QueryRequest request;
    request.table_name = store.tables().audit();
    request.key_condition = "PK = :pk";
    request.filter = "contains(subject, :id)";
    request.placeholders.values = item::Map{{":id", customer_id}, {":pk", keys.audit(date_of(day))}};
    request.consistent_read = true;
    do {
      TRY(ReminderStore::QueryPage page, store.query(request));
      for (item::Item& item : page.items)
        if (is_about(item::attribute_text(item, "subject"), customer_id) && events.size() < most_audit_events)
          events.push_back(std::move(item));
      request.exclusive_start_key = std::move(page.next);
    } while (request.exclusive_start_key);
  }
  return events;
}

}  // namespace postino::reminders
