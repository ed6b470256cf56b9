// Customers as items of the table, and what is kept of those that were erased.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/customer.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

inline constexpr std::string_view late_payer_sort = "LATE_PAYER";
inline constexpr std::string_view erased_sort = "ERASED";

item::Item customer_item(const Keys& keys, const Customer& customer);
// corrupt, with the attribute, when it cannot be read.
base::Result<Customer> read_customer(const item::Item& item);

// By which late payers are found.
item::Item late_payer_item(const Keys& keys, const std::string& customer_id);

// What is left of a customer that was erased: decisions that still count, and how far the erasure has come.
struct ErasedCustomer {
  std::string customer_id;
  bool opted_out = false;
  std::int64_t complaints = 0;
  bool suppressed = false;  // the address was on the suppression list of the outbox
  base::TimePoint began_at;
  std::optional<base::TimePoint> finished_at;  // empty: it was interrupted, and has to be repeated
};
item::Item erased_item(const Keys& keys, const ErasedCustomer& erased);
base::Result<ErasedCustomer> read_erased(const item::Item& item);

}  // namespace postino::reminders
