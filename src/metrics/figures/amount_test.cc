#include "metrics/figures/amount.h"

#include <gtest/gtest.h>

namespace postino::metrics {
namespace {

std::string text_of(std::int64_t thousandths) { return number_of_thousandths(thousandths).to_string(); }

std::optional<std::int64_t> read(const std::string& text) { return thousandths_of(item::Number::parse(text).value()); }

TEST(AmountTest, IsWrittenAsADecimal) {
  EXPECT_EQ(text_of(0), "0");
  EXPECT_EQ(text_of(1), "0.001");
  EXPECT_EQ(text_of(1'500), "1.5");
  EXPECT_EQ(text_of(-2'000), "-2");
  EXPECT_EQ(text_of(INT64_MAX), "9223372036854775.807");
  EXPECT_EQ(text_of(INT64_MIN), "-9223372036854775.808");
}

TEST(AmountTest, IsReadToTheThousandth) {
  EXPECT_EQ(read("0"), 0);
  EXPECT_EQ(read("4"), 4'000);
  EXPECT_EQ(read("4.5"), 4'500);
  EXPECT_EQ(read("-1.25"), -1'250);
  EXPECT_EQ(read("0.0019"), 1);
  EXPECT_EQ(read("0.0009"), 0);
  EXPECT_EQ(read("1E-130"), 0);
  EXPECT_EQ(read("1234567890123.456789012345678901234567"), 1'234'567'890'123'456);
}

TEST(AmountTest, DoesNotOverflow) {
  EXPECT_EQ(read("1E15"), 1'000'000'000'000'000'000);
  EXPECT_EQ(read("9E15"), std::nullopt);
  EXPECT_EQ(read("1E16"), std::nullopt);
  EXPECT_EQ(read("9.9E125"), std::nullopt);
  EXPECT_EQ(read("-9.9E125"), std::nullopt);
}

TEST(AmountTest, HasAnAverage) {
  EXPECT_EQ(average_of({.count = 0, .thousandths = 0}), 0);
  EXPECT_EQ(average_of({.count = 2, .thousandths = 9'000}), 4'500);
  EXPECT_EQ(average_of({.count = -1, .thousandths = 9'000}), 0);
}

}  // namespace
}  // namespace postino::metrics
