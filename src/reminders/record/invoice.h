// An invoice of a customer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "reminders/text/money.h"

namespace postino::reminders {

inline constexpr std::size_t most_payments = 100;  // of one invoice
inline constexpr std::size_t longest_reference = 128;
inline constexpr std::string_view currency_rule = "must be three capital letters such as EUR";

struct RecordedPayment {
  std::string reference;  // of the paying system; empty: it gave none
  item::Number amount;
  base::TimePoint paid_at;

  friend bool operator==(const RecordedPayment&, const RecordedPayment&) = default;
};

struct Invoice {
  std::string customer_id;
  std::string id;  // "INV-001"; the form of a customer's
  Money amount;
  item::Number paid;                       // so far; more than the amount only if that was lowered afterwards
  std::string due_date;                    // "2026-11-15": it may be paid on that day; overdue from the next, in UTC
  std::optional<base::TimePoint> paid_at;  // when it was paid in full, or was said to be
  bool paid_day_unknown = false;           // it was said to be paid, and not when: paid_at is when that was said
  std::vector<RecordedPayment> payments;   // in the order in which they were told
  std::int64_t version = 0;
  base::TimePoint created_at;
  base::TimePoint updated_at;

  bool is_paid() const { return paid_at.has_value(); }
  // When it was paid in full, if that is known.
  std::optional<base::TimePoint> known_paid_at() const { return paid_day_unknown ? std::nullopt : paid_at; }
  Money left() const;  // to be paid; never below zero

  friend bool operator==(const Invoice&, const Invoice&) = default;
};

bool is_date(std::string_view text);  // a day of the calendar, "2026-11-15", from 1970 on
inline constexpr std::string_view date_rule = "must be a day such as 2026-11-15, and not before 1970";
std::string date_of(base::TimePoint time);                  // that it falls on, in UTC
base::TimePoint first_moment_after(std::string_view date);  // of the next day, in UTC
bool is_overdue(const Invoice& invoice, base::TimePoint now);
bool was_paid_late(const Invoice& invoice);  // more than 7 days after the day it was due
// Whole days since the day it was due; 0 when it is not overdue.
std::int64_t days_overdue(const Invoice& invoice, base::TimePoint now);

// What is left of them, one sum for each currency, in the order of the currencies' names.
std::vector<Money> totals_left(const std::vector<Invoice>& invoices);

}  // namespace postino::reminders
