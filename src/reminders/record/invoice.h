// An invoice of a customer.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "reminders/text/money.h"

namespace postino::reminders {

struct Invoice {
  std::string customer_id;
  std::string id;  // "INV-001"; the form of a customer's
  Money amount;
  item::Number paid;                       // so far
  std::string due_date;                    // "2026-11-15": it may be paid on that day; overdue from the next, in UTC
  std::optional<base::TimePoint> paid_at;  // when it was paid in full
  std::int64_t version = 0;
  base::TimePoint created_at;
  base::TimePoint updated_at;

  bool is_paid() const { return paid_at.has_value(); }
};

bool is_date(std::string_view text);                        // a day of the calendar, "2026-11-15"
base::TimePoint first_moment_after(std::string_view date);  // of the next day, in UTC
bool is_overdue(const Invoice& invoice, base::TimePoint now);
bool was_paid_late(const Invoice& invoice);  // more than 7 days after the day it was due

}  // namespace postino::reminders
