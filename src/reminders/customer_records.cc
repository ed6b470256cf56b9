#include "reminders/customer_records.h"

#include <algorithm>
#include <array>

#include "item/attribute_text.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/invoice.h"
#include "reminders/record/invoice_item.h"
#include "reminders/record/item_fields.h"

namespace postino::reminders {

namespace {

constexpr int most_audit_events = 10'000;

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
  // Which revision the current text is: no earlier text.
  if (sort_key.starts_with(revision_begin) && sort_key.ends_with(noted_revision_end)) return "";
  const auto* const found = std::ranges::find_if(record_kinds, [&](const RecordKind& kind) {
    return kind.sort_key.ends_with('#') ? sort_key.starts_with(kind.sort_key) : sort_key == kind.sort_key;
  });
  return found != record_kinds.end() ? found->name : "others";
}

OrRefusal<void> read_partition(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                               const std::string& sort_begin,
                               const std::function<OrRefusal<void>(std::vector<item::Item>)>& take) {
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

OrRefusal<std::optional<item::Item>> newest_reminder(ReminderStore& store, const Keys& keys,
                                                     const std::string& customer_id) {
  for (const std::string_view begin : {draft_begin, sent_begin}) {
    store::QueryRequest request;
    request.table_name = store.tables().tracking;
    request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
    request.placeholders.values = item::Map{{":pk", keys.customer(customer_id)}, {":begin", begin}};
    request.consistent_read = true;
    request.forward = false;
    request.limit = 1;
    TRY(ReminderStore::QueryPage page, store.query(std::move(request)));
    if (!page.items.empty()) return std::move(page.items.front());
  }
  return std::nullopt;
}

OrRefusal<bool> are_settled(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                            const std::vector<std::string>& invoices, const std::string& settled) {
  for (const std::string& id : invoices) {
    if (id == settled) continue;
    TRY(const std::optional<item::Item> item, store.get(keys.customer(customer_id), std::string(invoice_begin) + id));
    // One that is not known, or cannot be read, may be owed: another program may have drafted the reminder.
    const auto invoice =
        item ? read_invoice(*item) : base::Result<Invoice>(base::fail(base::ErrorCode::not_found, "it is not known"));
    if (!invoice || is_overdue(*invoice, store.clock().now())) return false;
  }
  return !invoices.empty();
}

std::vector<std::string> invoices_in(const item::Item& item) { return ItemFields(item).texts("overdue_invoices"); }

OrRefusal<std::vector<item::Item>> audit_events_of(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id) {
  store::QueryRequest request;
  request.table_name = store.tables().audit();
  request.index_name = std::string(status_index);
  request.key_condition = "GSI1PK = :pk";
  request.placeholders.values = item::Map{{":pk", keys.customer(customer_id)}};
  request.limit = most_audit_events;
  TRY(ReminderStore::QueryPage page, store.query(request));
  std::vector<item::Item> events = std::move(page.items);
  while (page.next && std::cmp_less(events.size(), most_audit_events)) {
    request.exclusive_start_key = std::move(page.next);
    TRY(page, store.query(request));
    std::ranges::move(page.items, std::back_inserter(events));
  }
  return events;
}

}  // namespace postino::reminders
