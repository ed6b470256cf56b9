#include "capacity/decimal.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace postino::capacity {
namespace {

Decimal decimal(std::string_view text) { return Decimal::parse(text, 12).value(); }

TEST(Decimal, IsReadAndWrittenAsItIs) {
  for (const std::string_view text : {"0", "7", "0.5", "12.345", "999999999999.999999999999"})
    EXPECT_EQ(decimal(text).text(), text);
  EXPECT_EQ(decimal("0012.500").text(), "12.5");
  EXPECT_EQ(decimal("0.000").text(), "0");
}

TEST(Decimal, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "0x1", "1.2.3", "NaN", "1234567890123", "0.1234567890123"})
    EXPECT_FALSE(Decimal::parse(text, 12)) << text;
  EXPECT_EQ(Decimal::parse("1.234", 2).error().message,
            "must be a decimal such as 12.5, with at most 12 digits before the point and 2 behind it");
}

TEST(Decimal, CalculatesExactly) {
  EXPECT_EQ((decimal("0.1") + decimal("0.2")).text(), "0.3");
  EXPECT_EQ((decimal("1") - decimal("0.999")).text(), "0.001");
  EXPECT_EQ((decimal("1") - decimal("3.5")).text(), "-2.5");
  EXPECT_EQ((decimal("0.00065") * 730 * 10).text(), "4.745");
  EXPECT_EQ(Decimal::halves(7).text(), "3.5");
  EXPECT_EQ(decimal("2.50"), decimal("2.5"));
  EXPECT_LT(decimal("2.499"), decimal("2.5"));
}

TEST(Decimal, IsRoundedHalfAwayFromZero) {
  EXPECT_EQ(decimal("4.745").text(2), "4.75");
  EXPECT_EQ(decimal("4.7449").text(2), "4.74");
  EXPECT_EQ(decimal("4.745").rounded(0).text(), "5");
  EXPECT_EQ((Decimal(0) - decimal("4.745")).text(2), "-4.75");
  EXPECT_EQ(decimal("3").text(2), "3.00");
  EXPECT_EQ(decimal("0.004").text(2), "0.00");
  EXPECT_EQ(decimal("0.05").text(1), "0.1");
}

TEST(Decimal, IsDividedToSomePlaces) {
  EXPECT_EQ(Decimal(1).divided_by(3, 4).text(), "0.3333");
  EXPECT_EQ(Decimal(2).divided_by(3, 4).text(), "0.6667");
  EXPECT_EQ(decimal("0.5").divided_by(decimal("0.25"), 4).text(), "2");
  EXPECT_EQ((Decimal(0) - 1).divided_by(8, 2).text(), "-0.13");
}

TEST(Decimal, HasACeiling) {
  EXPECT_EQ(decimal("0").ceiling(), 0);
  EXPECT_EQ(decimal("0.000001").ceiling(), 1);
  EXPECT_EQ(decimal("7").ceiling(), 7);
  EXPECT_EQ(decimal("7.5").ceiling(), 8);
}

// Cents as whole numbers know no rounding.
TEST(Decimal, SumsAreThoseOfWholeNumbers) {
  base::SeededRandom random(7);
  Decimal sum;
  std::int64_t cents = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto amount = static_cast<std::int64_t>(random.next() % 1'000'000);
    cents += amount;
    sum += Decimal(amount) * decimal("0.01");
  }
  EXPECT_EQ((sum * 100).text(), std::to_string(cents));
}

}  // namespace
}  // namespace postino::capacity
