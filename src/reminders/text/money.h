// Amounts of money: exact decimals in one currency. Pure code.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "item/number.h"

namespace postino::reminders {

// The three letters of ISO 4217, "EUR". Not every three letters are a currency, and new ones come: only the form is
// checked.
bool is_currency(std::string_view text);
// How many decimals its amounts have: two, but for those that have none (JPY), three (KWD) or four (CLF).
int decimals_of(std::string_view currency);

struct Money {
  item::Number amount;
  std::string currency;

  // invalid for texts that are no decimals ("1,5", "1e3", " 1"), for negative amounts, for more than 18 digits, and for
  // more decimals than the currency has.
  static base::Result<Money> parse(std::string_view amount, std::string_view currency);

  // "1500.00 EUR"
  std::string text() const;
  // "1500.00"
  std::string amount_text() const;

  friend bool operator==(const Money&, const Money&) = default;
};

// invalid when their currencies differ.
base::Result<Money> add(const Money& a, const Money& b);

}  // namespace postino::reminders
