#include "store/stream.h"

#include <gtest/gtest.h>

#include <limits>

namespace postino::store {
namespace {

TEST(SequenceNumber, IsShownWithTwentyOneDigitsInNumericOrder) {
  EXPECT_EQ(format_sequence_number(0), "100000000000000000000");
  EXPECT_EQ(format_sequence_number(42), "100000000000000000042");
  EXPECT_LT(format_sequence_number(9), format_sequence_number(10));
  const SequenceNumber largest = std::numeric_limits<SequenceNumber>::max();
  EXPECT_EQ(parse_sequence_number(format_sequence_number(largest)), largest);
}

TEST(SequenceNumber, IsReadOnlyInTheFormItIsShown) {
  for (const char* text :
       {"", "42", "000000000000000000042", "1000000000000000000420", "10000000000000000004x", "199999999999999999999"})
    EXPECT_EQ(parse_sequence_number(text), std::nullopt) << text;
}

}  // namespace
}  // namespace postino::store
