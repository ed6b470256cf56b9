// Customers as items of the table, and what is kept of those that were erased.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/customer.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

inline constexpr std::string_view late_payer_sort = "LATE_PAYER";
inline constexpr std::string_view erased_sort = "ERASED";

item::Item customer_item(const Keys& keys, const Customer& customer);
const std::vector<std::string>& customer_attributes();  // that it can have, but for the keys
// corrupt, with the attribute, when it cannot be read.
base::Result<Customer> read_customer(const item::Item& item);
// Of a record that cannot be read: what can be. What may have stopped reminders, and cannot be read or was overwritten,
// stops them: one too few does less harm than one too many. Its id is that of its key; it has no version.
Customer salvaged_customer(const item::Item& item, const std::string& id);

// By which late payers are found.
item::Item late_payer_item(const Keys& keys, const std::string& customer_id);

// What is left of a customer that was erased: decisions that still count, and how far the erasure has come.
struct ErasedCustomer {
  std::string customer_id;
  bool opted_out = false;
  std::int64_t complaints = 0;
  bool suppressed = false;  // the address was on the suppression list of the outbox
  base::TimePoint began_at;
  std::optional<base::TimePoint> finished_at;  // empty: it was interrupted, and goes on after a while
};
// One that is not finished goes on by itself after so long, if the caller that began it does not finish it.
inline constexpr base::Milliseconds erasure_pause = std::chrono::minutes(1);
std::string erasure_sort(base::TimePoint due);  // its GSI1SK
item::Item erased_item(const Keys& keys, const ErasedCustomer& erased);
base::Result<ErasedCustomer> read_erased(const item::Item& item);

}  // namespace postino::reminders
