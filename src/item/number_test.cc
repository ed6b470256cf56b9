#include "item/number.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <limits>

#include "item/decimal_digits.h"
#include "item/random_values_testing.h"

namespace postino::item {
namespace {

constexpr const char* overflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr const char* underflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr const char* digits = "Attempting to store more than 38 significant digits in a Number";
constexpr const char* no_number = "The parameter cannot be converted to a numeric value";

// The plain decimal form, or the message.
std::string outcome(const base::Result<Number>& number) {
  return number ? number->to_string() : number.error().message;
}
std::string parsed(std::string_view text) { return outcome(Number::parse(text)); }
Number number(std::string_view text) { return Number::parse(text).value(); }

TEST(NumberParse, AcceptsEveryFormOfTheGrammar) {
  EXPECT_EQ(parsed("5"), "5");
  EXPECT_EQ(parsed("+5"), "5");
  EXPECT_EQ(parsed("-5"), "-5");
  EXPECT_EQ(parsed(".5"), "0.5");
  EXPECT_EQ(parsed("5."), "5");
  EXPECT_EQ(parsed("1.e5"), "100000");
  EXPECT_EQ(parsed("1E+3"), "1000");
  EXPECT_EQ(parsed("25e-3"), "0.025");
  EXPECT_EQ(parsed("00042"), "42");
  EXPECT_EQ(parsed("0042.4200"), "42.42");
  EXPECT_EQ(parsed("-0"), "0");
  EXPECT_EQ(parsed("-0.00"), "0");
  EXPECT_EQ(parsed("1e000000000000000000000000000003"), "1000");
}

TEST(NumberParse, RefusesWhatIsNoNumber) {
  for (const std::string text :
       {"e2",  "1+2",  "1.2.3", "+",        "-",     "1e", "1e+", "1e+-2", "--1",   "+-1", ".",
        ".e1", "0x10", "NaN",   "Infinity", "1_000", " 1", "1 ",  "1\n",   "1e5.0", "a",   "\xD9\xA1"})
    EXPECT_EQ(parsed(text), no_number + (": " + text));
  EXPECT_EQ(parsed(std::string_view("1\0", 2)), no_number + std::string(": 1\0", 4));
  EXPECT_EQ(parsed(""), no_number);
  EXPECT_EQ(Number::parse("x").error().code, base::ErrorCode::invalid);
}

TEST(NumberParse, KnowsTheLimitsOfMagnitude) {
  EXPECT_EQ(parsed("1e125"), "1" + std::string(125, '0'));
  EXPECT_EQ(parsed("1e126"), overflow);
  EXPECT_EQ(parsed("-1e126"), overflow);
  EXPECT_EQ(parsed("10e124"), "1" + std::string(125, '0'));
  EXPECT_EQ(parsed("10e125"), overflow);
  EXPECT_EQ(parsed("1" + std::string(126, '0')), overflow);
  EXPECT_EQ(parsed("1e-130"), "0." + std::string(129, '0') + "1");
  EXPECT_EQ(parsed("1e-131"), underflow);
  EXPECT_EQ(parsed("0.1e-130"), underflow);
  EXPECT_EQ(parsed("1.5e-130"), "0." + std::string(129, '0') + "15");
  EXPECT_EQ(parsed(std::string(38, '9') + "e88"), std::string(38, '9') + std::string(88, '0'));
  EXPECT_EQ(parsed(std::string(38, '9') + "e89"), overflow);
}

TEST(NumberParse, CountsSignificantDigits) {
  const std::string most(38, '7');
  EXPECT_EQ(parsed(most), most);
  EXPECT_EQ(parsed("000" + most + "000"), most + "000");
  EXPECT_EQ(parsed("0.000" + most + "000"), "0.000" + most);
  EXPECT_EQ(parsed(most + "7"), digits);
  EXPECT_EQ(parsed("1" + std::string(37, '0') + "1"), digits);
  EXPECT_EQ(parsed("1." + std::string(37, '0') + "1"), digits);
  EXPECT_EQ(parsed("1." + std::string(36, '0') + "1"), "1." + std::string(36, '0') + "1");
}

TEST(NumberParse, HasTheQuirksOfTheOriginal) {
  EXPECT_EQ(parsed("0e125"), "0");
  EXPECT_EQ(parsed("0e126"), overflow);
  EXPECT_EQ(parsed("0.0e126"), "0");
  EXPECT_EQ(parsed("0e-130"), "0");
  EXPECT_EQ(parsed("0e-131"), underflow);
  EXPECT_EQ(parsed("1e2147483647"), underflow);
  EXPECT_EQ(parsed("1e2147483646"), overflow);
  EXPECT_EQ(parsed("1e-2147483648"), underflow);
  EXPECT_EQ(parsed("1e9223372036854775807"), overflow);
  EXPECT_EQ(parsed("1e-9223372036854775808"), underflow);
  EXPECT_EQ(parsed("1e9223372036854775808"), std::string(no_number) + ": 1e9223372036854775808");
  EXPECT_EQ(parsed("1e-9223372036854775809"), std::string(no_number) + ": 1e-9223372036854775809");
}

TEST(NumberParse, IsSafeOnLongTexts) {
  const std::string zeros(1 << 20, '0');
  EXPECT_EQ(parsed(zeros), "0");
  EXPECT_EQ(parsed(zeros + "1." + zeros), "1");
  EXPECT_EQ(parsed("1" + zeros), overflow);
  EXPECT_EQ(parsed("1" + zeros + "e-1048576"), "1");
  EXPECT_EQ(parsed("0." + zeros + "1"), underflow);
  EXPECT_EQ(parsed("0." + zeros + "1e1048577"), "1");
  EXPECT_EQ(parsed("1e" + zeros + "5"), "100000");
  EXPECT_EQ(parsed("1" + zeros + "1"), overflow);
  EXPECT_EQ(parsed("1" + zeros + "1e-1048577"), digits);
}

TEST(Number, IsEqualHoweverItWasWritten) {
  EXPECT_EQ(number("1"), number("1.0"));
  EXPECT_EQ(number("1"), number("1e0"));
  EXPECT_EQ(number("100"), number("1e2"));
  EXPECT_EQ(number("-0"), number("0.000"));
  EXPECT_EQ(number("120"), Number(120));
  EXPECT_NE(number("1"), number("-1"));
  EXPECT_NE(number("1"), number("10"));
}

TEST(Number, ComesFromIntegers) {
  EXPECT_EQ(Number(0).to_string(), "0");
  EXPECT_EQ(Number(-1000).to_string(), "-1000");
  EXPECT_EQ(Number(-1000).exponent(), 3);
  EXPECT_EQ(Number(std::numeric_limits<std::int64_t>::max()).to_string(), "9223372036854775807");
  EXPECT_EQ(Number(std::numeric_limits<std::int64_t>::min()).to_string(), "-9223372036854775808");
}

TEST(Number, IsMadeFromPartsWithinTheLimits) {
  EXPECT_EQ(outcome(Number::make(true, 1200, -1)), "-120");
  EXPECT_EQ(outcome(Number::make(true, 0, 1000)), "0");
  EXPECT_FALSE(Number::make(true, 0, 5)->negative());
  EXPECT_EQ(outcome(Number::make(false, 1, 126)), overflow);
  EXPECT_EQ(outcome(Number::make(false, 1, std::numeric_limits<int>::max())), overflow);
  EXPECT_EQ(outcome(Number::make(false, 1, std::numeric_limits<int>::min())), underflow);
  EXPECT_EQ(outcome(Number::make(false, powers_of_ten[38], 0)), "1" + std::string(38, '0'));
  EXPECT_EQ(outcome(Number::make(false, powers_of_ten[38] + 1, 0)), digits);
  EXPECT_EQ(outcome(Number::make(false, ~Number::Coefficient{0}, 0)), digits);
}

TEST(Number, CountsStoredBytes) {
  const std::pair<std::string, std::size_t> captured[] = {{"0", 1},
                                                          {"-0", 1},
                                                          {"1", 2},
                                                          {"12", 2},
                                                          {"100", 2},
                                                          {"1E125", 2},
                                                          {"1E-100", 2},
                                                          {"0.15", 2},
                                                          {"0042", 2},
                                                          {"123", 3},
                                                          {"1234", 3},
                                                          {"1010", 3},
                                                          {"1.5", 3},
                                                          {"1.2", 3},
                                                          {"-42", 3},
                                                          {"100.5", 4},
                                                          {"1.234", 4},
                                                          {"123456", 4},
                                                          {"3.14159", 5},
                                                          {std::string(38, '1'), 20},
                                                          {"-" + std::string(38, '1'), 21}};
  for (const auto& [text, bytes] : captured) EXPECT_EQ(number(text).stored_size(), bytes) << text;
  // 38 digits that begin and end in the middle of a pair touch 20 pairs.
  EXPECT_EQ(number(std::string(37, '1') + ".1").stored_size(), 21U);
}

TEST(Number, GivesItsIntegerPart) {
  EXPECT_EQ(number("0").to_int64(), 0);
  EXPECT_EQ(number("1.9").to_int64(), 1);
  EXPECT_EQ(number("-1.9").to_int64(), -1);
  EXPECT_EQ(number("0.999").to_int64(), 0);
  EXPECT_EQ(number("1e-130").to_int64(), 0);
  EXPECT_EQ(number("12e3").to_int64(), 12000);
  EXPECT_EQ(number("9223372036854775807.9").to_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number("9223372036854775808").to_int64(), std::nullopt);
  EXPECT_EQ(number("-9223372036854775808").to_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(number("-9223372036854775809").to_int64(), std::nullopt);
  EXPECT_EQ(number("1e19").to_int64(), std::nullopt);
  EXPECT_EQ(number("1e125").to_int64(), std::nullopt);
}

TEST(Number, ComparesByValue) {
  const char* ascending[] = {"-9.9e125", "-10.1",    "-10",  "-9.99", "-1e-130", "0",
                             "1e-130",   "1.1e-130", "0.5",  "0.51",  "1",       "1.0000000001",
                             "9",        "10",       "10.1", "99",    "100",     "1e125"};
  for (const auto* a : ascending)
    for (const auto* b : ascending)
      EXPECT_EQ(number(a) <=> number(b),
                std::find(ascending, std::end(ascending), a) <=> std::find(ascending, std::end(ascending), b))
          << a << " and " << b;
}

TEST(NumberArithmetic, IsExact) {
  EXPECT_EQ(outcome(Number::add(number("0.1"), number("0.2"))), "0.3");
  EXPECT_EQ(outcome(Number::add(number("999"), number("1"))), "1000");
  EXPECT_EQ(outcome(Number::subtract(number("1"), number("0.9"))), "0.1");
  EXPECT_EQ(outcome(Number::subtract(number("5"), number("5"))), "0");
  EXPECT_FALSE(Number::subtract(number("-5"), number("-5"))->negative());
  EXPECT_EQ(outcome(Number::subtract(number("0"), number("7"))), "-7");
  EXPECT_EQ(outcome(Number::add(number("1e-130"), number("0"))), "0." + std::string(129, '0') + "1");
}

TEST(NumberArithmetic, EndsAt38DigitsAndAtTheLimitsOfMagnitude) {
  const std::string nines(38, '9');
  EXPECT_EQ(outcome(Number::add(number("1e37"), number("1"))), "1" + std::string(36, '0') + "1");
  EXPECT_EQ(outcome(Number::add(number("1e38"), number("1"))), overflow);
  EXPECT_EQ(outcome(Number::add(number("1e50"), number("1"))), overflow);
  EXPECT_EQ(outcome(Number::add(number("1e125"), number("1e-130"))), overflow);
  EXPECT_EQ(outcome(Number::add(number(nines), number("1"))), "1" + std::string(38, '0'));
  EXPECT_EQ(outcome(Number::add(number(nines), number("2"))), overflow);
  // A 39th digit may be there on the way.
  EXPECT_EQ(outcome(Number::subtract(number("1e38"), number("1"))), nines);
  EXPECT_EQ(outcome(Number::subtract(number("2e38"), number(nines))), overflow);
  EXPECT_EQ(outcome(Number::add(number("9e125"), number("1e125"))), overflow);
  EXPECT_EQ(outcome(Number::subtract(number("-9e125"), number("1e125"))), overflow);
  EXPECT_EQ(outcome(Number::subtract(number("1.1e-130"), number("1e-130"))), underflow);
}

// School arithmetic on one digit per place, as slow and as plain as can be.
class DigitArithmetic {
 public:
  static constexpr int lowest = -170;
  static constexpr int places = 300;

  explicit DigitArithmetic(std::string_view text) {
    negative_ = text.starts_with('-');
    if (negative_) text.remove_prefix(1);
    const auto e = text.find('e');
    int place = e == text.npos ? 0 : std::stoi(std::string(text.substr(e + 1)));
    text = text.substr(0, e);
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit) digits_[index(place++)] = *digit - '0';
  }

  std::string plus(DigitArithmetic other) const {
    DigitArithmetic sum = *this;
    if (negative_ == other.negative_) {
      for (std::size_t i = 0; i < places; ++i) sum.digits_[i] += other.digits_[i];
    } else {
      const bool smaller =
          std::lexicographical_compare(digits_.rbegin(), digits_.rend(), other.digits_.rbegin(), other.digits_.rend());
      sum = smaller ? other : *this;
      const DigitArithmetic& subtrahend = smaller ? *this : other;
      for (std::size_t i = 0; i < places; ++i) sum.digits_[i] -= subtrahend.digits_[i];
    }
    return sum.carried().text();
  }

  DigitArithmetic negated() const {
    DigitArithmetic result = *this;
    result.negative_ = !negative_;
    return result;
  }

 private:
  static std::size_t index(int place) { return static_cast<std::size_t>(place - lowest); }

  DigitArithmetic& carried() {
    for (std::size_t i = 0; i + 1 < places; ++i) {
      const int carry = digits_[i] < 0 ? -1 : digits_[i] / 10;
      digits_[i] -= carry * 10;
      digits_[i + 1] += carry;
    }
    return *this;
  }

  std::string text() const {
    int top = lowest + places - 1;
    int bottom = lowest;
    while (top > lowest && digits_[index(top)] == 0) --top;
    while (bottom < top && digits_[index(bottom)] == 0) ++bottom;
    if (digits_[index(top)] == 0) return "0";
    if (top > 125 || top - bottom >= 38) return overflow;
    if (top < -130) return underflow;
    std::string result = negative_ ? "-" : "";
    for (int place = std::max(top, 0); place >= std::min(bottom, 0); --place) {
      if (place == -1) result.push_back('.');
      result.push_back(static_cast<char>('0' + digits_[index(place)]));
    }
    return result;
  }

  std::array<int, places> digits_{};
  bool negative_ = false;
};

TEST(NumberArithmetic, AgreesWithSchoolArithmetic) {
  RandomValues random;
  int exact = 0;
  constexpr int rounds = 10'000;
  for (int i = 0; i < rounds; ++i) {
    const std::string a = random.number_text();
    const std::string b = random.number_text();
    const auto sum = Number::add(number(a), number(b));
    exact += sum ? 1 : 0;
    ASSERT_EQ(outcome(sum), DigitArithmetic(a).plus(DigitArithmetic(b))) << a << " + " << b << ", seed " << random.seed;
    ASSERT_EQ(outcome(Number::subtract(number(a), number(b))), DigitArithmetic(a).plus(DigitArithmetic(b).negated()))
        << a << " - " << b << ", seed " << random.seed;
  }
  // Both outcomes must be well represented, or the test says little.
  EXPECT_GT(exact, rounds / 10);
  EXPECT_LT(exact, rounds * 9 / 10);
}

TEST(NumberText, SurvivesTheRoundTrip) {
  RandomValues random;
  for (int i = 0; i < 10'000; ++i) {
    const Number original = random.number();
    ASSERT_EQ(number(original.to_string()), original) << "seed " << random.seed;
  }
}

TEST(DecimalDigits, AreCountedAtEveryPowerOfTen) {
  for (std::size_t i = 1; i < powers_of_ten.size(); ++i) {
    EXPECT_EQ(count_digits(powers_of_ten[i] - 1), static_cast<int>(i));
    EXPECT_EQ(count_digits(powers_of_ten[i]), static_cast<int>(i) + 1);
  }
  EXPECT_EQ(count_digits(~Number::Coefficient{0}), 39);
}

}  // namespace
}  // namespace postino::item
