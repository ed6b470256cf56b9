#include "reminders/text/money.h"

#include <algorithm>
#include <array>

namespace postino::reminders {

namespace {

constexpr std::size_t most_digits = 18;

constexpr std::array<std::string_view, 17> without_decimals = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY",
                                                               "KMF", "KRW", "PYG", "RWF", "UGX", "UYI",
                                                               "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::array<std::string_view, 7> with_three = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};
constexpr std::array<std::string_view, 2> with_four = {"CLF", "UYW"};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

int decimals_of(std::string_view currency) {
  const auto is_in = [&](const auto& list) { return std::ranges::find(list, currency) != list.end(); };
  if (is_in(without_decimals)) return 0;
  if (is_in(with_three)) return 3;
  return is_in(with_four) ? 4 : 2;
}

base::Result<Money> Money::parse(std::string_view amount, std::string_view currency) {
  if (!is_currency(currency)) return base::invalid("the currency must be three capital letters");
  const std::size_t point = std::min(amount.find('.'), amount.size());
  const std::string_view whole = amount.substr(0, point);
  const std::string_view decimals = point == amount.size() ? std::string_view() : amount.substr(point + 1);
  const bool has_form = !whole.empty() && std::ranges::all_of(whole, is_digit) &&
                        std::ranges::all_of(decimals, is_digit) && (point == amount.size() || !decimals.empty());
  if (!has_form) return base::invalid("must be a decimal such as 1500.00, not negative and without other signs");
  if (whole.size() + decimals.size() > most_digits)
    return base::invalid("must not have more than " + std::to_string(most_digits) + " digits");
  const std::size_t most = static_cast<std::size_t>(decimals_of(currency));
  const std::size_t last = decimals.find_last_not_of('0');
  if (last != std::string_view::npos && last >= most)
    return base::invalid("must not have more than " + std::to_string(most) + " decimals, as amounts in " +
                         std::string(currency));
  TRY(const item::Number number, item::Number::parse(amount));
  return Money{number, std::string(currency)};
}

std::string Money::amount_text() const {
  std::string text = amount.to_string();
  const auto decimals = static_cast<std::size_t>(decimals_of(currency));
  const std::size_t point = text.find('.');
  const std::size_t there = point == std::string::npos ? 0 : text.size() - point - 1;
  if (there >= decimals) return text;
  if (point == std::string::npos) text += '.';
  return text.append(decimals - there, '0');
}

std::string Money::text() const { return amount_text() + " " + currency; }

base::Result<Money> add(const Money& a, const Money& b) {
  if (a.currency != b.currency)
    return base::invalid("amounts in " + a.currency + " and " + b.currency + " cannot be added");
  TRY(const item::Number sum, item::Number::add(a.amount, b.amount));
  return Money{sum, a.currency};
}

}  // namespace postino::reminders
