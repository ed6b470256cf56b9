// What a customer has said against reminders.
//
// It is kept beside the customer's record, in the table of the audit, which other programs cannot change. So it holds
// although they overwrite or remove the record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "reminders/record/customer.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

inline constexpr std::string_view objection_sort = "OBJECTION";

struct Objection {
  bool opted_out = false;
  std::optional<base::TimePoint> opted_out_at;
  std::int64_t complaints = 0;

  bool is_any() const { return opted_out || complaints > 0; }
  friend bool operator==(const Objection&, const Objection&) = default;
};

Objection objection_of(const Customer& customer);
// What stops reminders is added, and nothing is taken away.
Customer with_objection(Customer customer, const Objection& objection);

item::Item objection_item(const Keys& keys, const std::string& customer_id, const Objection& objection);
base::Result<Objection> read_objection(const item::Item& item);

}  // namespace postino::reminders
