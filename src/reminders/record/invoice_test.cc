#include "reminders/record/invoice.h"

#include <gmock/gmock.h>

#include "base/timestamp.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

base::TimePoint at_time(std::string_view text) { return base::parse_timestamp(text).value(); }

Invoice invoice_of(std::string_view amount, std::string_view currency = "EUR", std::string due = "2026-11-15") {
  Invoice invoice;
  invoice.amount = Money::parse(amount, currency).value();
  invoice.due_date = std::move(due);
  return invoice;
}

TEST(InvoiceDates, AreDaysOfTheCalendar) {
  for (const char* const date : {"1970-01-01", "2024-02-29", "2026-12-31", "9999-12-31"})
    EXPECT_TRUE(is_date(date)) << date;
  for (const char* const date : {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-11-31", "2026-11-00", "26-11-15",
                                 "2026-1-15", "15.11.2026", "2026-11-15T00:00:00Z", "2026-11-15 ", "1969-12-31",
                                 "0000-01-01", "２０２６-11-15", "2026/11/15", "-026-11-15"})
    EXPECT_FALSE(is_date(date)) << date;
}

TEST(InvoiceDates, TheDayAfterBeginsAtMidnightInUtc) {
  EXPECT_EQ(first_moment_after("2026-11-15"), at_time("2026-11-16T00:00:00Z"));
  EXPECT_EQ(first_moment_after("2026-12-31"), at_time("2027-01-01T00:00:00Z"));
  EXPECT_EQ(first_moment_after("2024-02-28"), at_time("2024-02-29T00:00:00Z"));
  EXPECT_EQ(first_moment_after("2026-10-25"), at_time("2026-10-26T00:00:00Z")) << "when summer time ends in Europe";
  EXPECT_EQ(date_of(at_time("2026-11-15T23:59:59.999Z")), "2026-11-15");
  EXPECT_EQ(date_of(at_time("2026-11-16T00:30:00+01:00")), "2026-11-15");
}

TEST(InvoiceDates, ItMayBePaidOnTheWholeDayItIsDue) {
  const Invoice invoice = invoice_of("10");
  EXPECT_FALSE(is_overdue(invoice, at_time("2026-11-15T23:59:59.999Z")));
  EXPECT_TRUE(is_overdue(invoice, at_time("2026-11-16T00:00:00Z")));
  Invoice paid = invoice;
  paid.paid_at = at_time("2026-11-15T12:00:00Z");
  EXPECT_FALSE(is_overdue(paid, at_time("2027-01-01T00:00:00Z")));
}

TEST(InvoiceDates, DaysOverdueAreCountedFromTheDayAfter) {
  const Invoice invoice = invoice_of("10");
  EXPECT_EQ(days_overdue(invoice, at_time("2026-11-15T23:59:59Z")), 0);
  EXPECT_EQ(days_overdue(invoice, at_time("2026-11-16T00:00:00Z")), 1);
  EXPECT_EQ(days_overdue(invoice, at_time("2026-11-16T23:59:59Z")), 1);
  EXPECT_EQ(days_overdue(invoice, at_time("2026-11-17T00:00:00Z")), 2);
}

TEST(InvoiceDates, LateIsMoreThanSevenDays) {
  Invoice invoice = invoice_of("10");
  EXPECT_FALSE(was_paid_late(invoice)) << "it is not paid at all";
  invoice.paid_at = at_time("2026-11-22T23:59:59.999Z");
  EXPECT_FALSE(was_paid_late(invoice)) << "on the seventh day after";
  invoice.paid_at = at_time("2026-11-23T00:00:00Z");
  EXPECT_TRUE(was_paid_late(invoice));
}

TEST(InvoiceSums, WhatIsLeftIsNeverBelowZero) {
  Invoice invoice = invoice_of("10.10");
  EXPECT_EQ(invoice.left().text(), "10.10 EUR");
  invoice.paid = item::Number::parse("10.09").value();
  EXPECT_EQ(invoice.left().text(), "0.01 EUR");
  invoice.paid = item::Number(11);
  EXPECT_EQ(invoice.left().text(), "0.00 EUR");
  Invoice settled = invoice_of("10");
  settled.paid_at = base::TimePoint();
  EXPECT_EQ(settled.left().text(), "0.00 EUR");
}

TEST(InvoiceSums, AreExactAndOneForEachCurrency) {
  const auto texts = [](const std::vector<Invoice>& invoices) {
    std::vector<std::string> all;
    for (const Money& total : totals_left(invoices)) all.push_back(total.text());
    return all;
  };
  EXPECT_THAT(texts({}), IsEmpty());
  std::vector<Invoice> invoices(1'000, invoice_of("0.10"));
  invoices.push_back(invoice_of("3", "USD"));
  invoices.push_back(invoice_of("500", "JPY"));
  invoices.back().paid = item::Number(499);
  EXPECT_THAT(texts(invoices), ElementsAre("100.00 EUR", "1 JPY", "3.00 USD"));
}

}  // namespace
}  // namespace postino::reminders
