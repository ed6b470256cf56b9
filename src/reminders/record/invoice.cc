#include "reminders/record/invoice.h"

#include <map>

#include "base/check.h"
#include "base/timestamp.h"
#include "reminders/record/customer.h"

namespace postino::reminders {

namespace {

constexpr base::Milliseconds one_day = std::chrono::hours(24);

std::optional<base::TimePoint> first_moment_of(std::string_view date) {
  constexpr std::size_t date_length = 10;
  if (date.size() != date_length) return std::nullopt;
  const auto time = base::parse_timestamp(std::string(date) + "T00:00:00Z");
  if (!time || *time < base::TimePoint()) return std::nullopt;
  return *time;
}

}  // namespace

Money Invoice::left() const {
  if (is_paid() || paid >= amount.amount) return {item::Number(), amount.currency};
  const auto rest = item::Number::subtract(amount.amount, paid);
  CHECK(rest);  // both have few digits: Money::parse() saw to that
  return {*rest, amount.currency};
}

bool is_date(std::string_view text) { return first_moment_of(text).has_value(); }

std::string date_of(base::TimePoint time) {
  constexpr std::size_t date_length = 10;
  return base::format_timestamp(time).substr(0, date_length);
}

base::TimePoint first_moment_after(std::string_view date) {
  const auto first = first_moment_of(date);
  CHECK(first);
  return *first + one_day;
}

bool is_overdue(const Invoice& invoice, base::TimePoint now) {
  return !invoice.is_paid() && now >= first_moment_after(invoice.due_date);
}

bool was_paid_late(const Invoice& invoice) {
  return invoice.is_paid() && *invoice.paid_at >= first_moment_after(invoice.due_date) + late_after;
}

std::int64_t days_overdue(const Invoice& invoice, base::TimePoint now) {
  if (!is_overdue(invoice, now)) return 0;
  return (now - first_moment_after(invoice.due_date)) / one_day + 1;
}

std::vector<Money> totals_left(const std::vector<Invoice>& invoices) {
  std::map<std::string, Money> totals;
  for (const Invoice& invoice : invoices) {
    const Money left = invoice.left();
    Money& total = totals.try_emplace(left.currency, Money{item::Number(), left.currency}).first->second;
    const auto sum = add(total, left);
    CHECK(sum);  // amounts have 18 digits at most: so many invoices do not exist
    total = *sum;
  }
  std::vector<Money> sums;
  for (auto& [currency, total] : totals) sums.push_back(std::move(total));
  return sums;
}

}  // namespace postino::reminders
