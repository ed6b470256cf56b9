#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace postino::base {
namespace {

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return invalid("odd");
  return std::make_unique<int>(value / 2);
}

Result<void> check_even(int value) {
  TRY_VOID(half(value));
  return {};
}

Result<int> quarter(int value) {
  TRY(const std::unique_ptr<int> once, half(value));
  TRY(const std::unique_ptr<int> twice, half(*once));
  return *twice;
}

TEST(Result, TryPassesValuesAndReturnsErrors) {
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error(), (Error{ErrorCode::invalid, "odd"}));
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

// An error type of a floor above, made from one of below.
struct Wrapped {
  Wrapped(Error error) : text("wrapped " + error.message) {}  // NOLINT(google-explicit-constructor)
  std::string text;
};

Result<int, Wrapped> wrapped_quarter(int value) {
  TRY(const int result, quarter(value));
  return result;
}

TEST(Result, ErrorsConvertOnTheirWayUp) { EXPECT_EQ(wrapped_quarter(1).error().text, "wrapped odd"); }

}  // namespace
}  // namespace postino::base
