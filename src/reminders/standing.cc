#include "reminders/standing.h"

#include "mail/address.h"
#include "reminders/customer_records.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/invoice_item.h"

namespace postino::reminders {

namespace {

// The first item in the order of the sort keys.
OrRefusal<std::optional<item::Item>> first_item(ReminderStore& store, const std::string& pk, std::string_view begin) {
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.placeholders.values = item::Map{{":pk", pk}, {":begin", begin}};
  request.consistent_read = true;
  request.limit = 1;
  TRY(ReminderStore::QueryPage page, store.query(std::move(request)));
  if (page.items.empty()) return std::nullopt;
  return std::move(page.items.front());
}

// The due date of the unpaid invoice that is the longest overdue; empty: there is none. What other programs have put
// between them is passed over.
OrRefusal<std::string> oldest_due_date(ReminderStore& store, const std::string& pk) {
  constexpr std::size_t date_length = 10;
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.projection = "SK";
  request.placeholders.values = item::Map{{":pk", pk}, {":begin", unpaid_begin}};
  request.consistent_read = true;
  request.limit = 1;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    for (const item::Item& item : page.items) {
      const std::string rest = item.find("SK")->as<std::string>().substr(unpaid_begin.size());
      std::string date = rest.substr(0, date_length);
      if (is_date(date) && rest.substr(date.size()).starts_with('#')) return date;
    }
    request.limit = 100;
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return "";
}

// Of a customer whose invoices are known. Others may owe what only the draft tells of.
OrRefusal<bool> owes_nothing(ReminderStore& store, const Keys& keys, const std::string& customer_id) {
  const std::string pk = keys.customer(customer_id);
  TRY(const std::string oldest, oldest_due_date(store, pk));
  if (!oldest.empty()) return store.clock().now() < first_moment_after(oldest);
  TRY(const std::optional<item::Item> any, first_item(store, pk, invoice_begin));
  return any.has_value();
}

}  // namespace

OrRefusal<std::string> why_stopped_now(ReminderStore& store, Customers& customers, const Keys& keys,
                                       const std::string& customer_id, const std::vector<std::string>& invoices,
                                       std::optional<Customer>* customer) {
  auto found = customers.find(customer_id, keys.tenant());
  if (!found && found.error().kind != RefusalKind::unknown_customer) return base::propagate(std::move(found).error());
  std::string stopped;
  if (found) {
    stopped = why_stopped(*found);
    if (customer != nullptr) *customer = *std::move(found);
  } else {
    // Another program may write drafts for a customer that was erased.
    TRY(const std::optional<item::Item> erased, store.get(keys.customer(customer_id), std::string(erased_sort)));
    // Or for one whose record it has removed.
    TRY(const Objection objection, store.objection(keys, customer_id));
    stopped = erased ? std::string(erased_reason) : why_stopped(with_objection(Customer(), objection));
  }
  if (stopped.empty()) {
    TRY(const bool is_paid, owes_nothing(store, keys, customer_id));
    if (is_paid) stopped = "no invoice of the customer is overdue";
  }
  if (stopped.empty()) {
    TRY(const bool is_settled, are_settled(store, keys, customer_id, invoices));
    if (is_settled) stopped = settled_reason;
  }
  return stopped;
}

OrRefusal<Standing> read_standing(ReminderStore& store, Customers& customers, ReminderMailer& mail, const Keys& keys,
                                  const std::string& customer_id, const std::string& draft_address,
                                  const std::vector<std::string>& invoices) {
  Standing standing;
  auto guard = store.guard(keys, customer_id);
  if (!guard && guard.error().kind == RefusalKind::corrupt)
    guard.error().message += "; it is made again when the customer is changed, or put once more";
  TRY(standing.guard, std::move(guard));
  if (!standing.guard.unreadable.empty()) return refuse(RefusalKind::corrupt, standing.guard.unreadable);
  TRY(standing.stopped, why_stopped_now(store, customers, keys, customer_id, invoices, &standing.customer));
  standing.address = standing.customer ? standing.customer->email : draft_address;
  if (standing.stopped.empty() && mail::parse_mailbox(standing.address)) {
    const auto suppressed = mail.is_suppressed(standing.address, keys.tenant());
    if (!suppressed)
      return refuse(RefusalKind::unavailable, "the suppression list cannot be read: " + suppressed.error().message);
    if (*suppressed) standing.stopped = "the address of the customer is on the suppression list";
  }
  return standing;
}

}  // namespace postino::reminders
