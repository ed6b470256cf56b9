#include "reminders/text/money.h"

#include <gmock/gmock.h>

namespace postino::reminders {
namespace {

using ::testing::HasSubstr;

std::string written(std::string_view amount, std::string_view currency = "EUR") {
  const auto money = Money::parse(amount, currency);
  return money ? money->text() : "refused: " + money.error().message;
}

TEST(Money, IsWrittenWithTheDecimalsOfItsCurrency) {
  EXPECT_EQ(written("1500"), "1500.00 EUR");
  EXPECT_EQ(written("1500.0"), "1500.00 EUR");
  EXPECT_EQ(written("1500.5"), "1500.50 EUR");
  EXPECT_EQ(written("0.07"), "0.07 EUR");
  EXPECT_EQ(written("0"), "0.00 EUR");
  EXPECT_EQ(written("0001.10"), "1.10 EUR");
  EXPECT_EQ(written("1500", "JPY"), "1500 JPY");
  EXPECT_EQ(written("1500.00", "JPY"), "1500 JPY") << "zeros say nothing";
  EXPECT_EQ(written("1.5", "KWD"), "1.500 KWD");
  EXPECT_EQ(written("1.2345", "CLF"), "1.2345 CLF");
}

TEST(Money, IsExact) {
  Money sum = Money::parse("0.10", "EUR").value();
  for (int i = 0; i < 999; ++i) sum = add(sum, Money::parse("0.10", "EUR").value()).value();
  EXPECT_EQ(sum.text(), "100.00 EUR");
  EXPECT_EQ(written("9999999999999999.99"), "9999999999999999.99 EUR");
}

TEST(Money, OfOtherFormsIsRefused) {
  for (const char* const text :
       {"", ".", "1.", ".5", "-1", "+1", "1,5", "1e3", " 1", "1 ", "1.5.5", "abc", "0x10", "١", "1\n", "NaN", "1_000"})
    EXPECT_THAT(written(text), HasSubstr("must be a decimal")) << text;
  EXPECT_THAT(written("1.005"), HasSubstr("more than 2 decimals"));
  EXPECT_THAT(written("1.5", "JPY"), HasSubstr("more than 0 decimals"));
  EXPECT_THAT(written("12345678901234567.89"), HasSubstr("18 digits"));
  for (const char* const currency : {"", "eur", "EURO", "E1R", "€"})
    EXPECT_THAT(written("1", currency), HasSubstr("three capital letters")) << currency;
}

TEST(Money, OfTwoCurrenciesHasNoSum) {
  const auto sum = add(Money::parse("1", "EUR").value(), Money::parse("1", "USD").value());
  ASSERT_FALSE(sum);
  EXPECT_THAT(sum.error().message, HasSubstr("EUR and USD"));
}

}  // namespace
}  // namespace postino::reminders
