#include "engine/storage/keys.h"

#include <gmock/gmock.h>

#include <limits>

namespace postino::engine {
namespace {

using namespace std::string_literals;

// These bytes are on disk: docs/formats.md.
TEST(KeysTest, ExpiryKeysLieBySecondAndCanBeReadBack) {
  const std::string stored = "\x01\x02\x03\x04item 2"s;
  const std::string key = expiry_key(0x01020304, 0x0102, stored);
  EXPECT_EQ(key, "\x01\x02\x03\x04\x00\x00\x00\x00\x00\x00\x01\x02"s + stored.substr(4));
  const ExpiryEntry entry = parse_expiry_key(key);
  EXPECT_EQ(entry.second, 0x0102);
  EXPECT_EQ(entry.stored_item_key, stored);
  EXPECT_LT(key, expiry_key(0x01020304, 0x0103, "\x01\x02\x03\x04item 1"s));
}

TEST(KeysTest, StreamKeysLieBySequenceNumber) {
  EXPECT_EQ(stream_key(0x01020304, 0x05), "\x01\x02\x03\x04\x00\x00\x00\x00\x00\x00\x00\x05"s);
  EXPECT_LT(stream_key(1, 255), stream_key(1, 256));
  EXPECT_LT(stream_key(1, ~RecordNumber{0}), stream_key(2, 0));
  EXPECT_EQ(sequence_number_of(stream_key(9, 1'234'567'890'123)), 1'234'567'890'123U);
}

TEST(KeysTest, UndoKeysLieByTimeAndThenByNumber) {
  const std::string key = undo_key(0x01020304, 0x0102, 0x05);
  EXPECT_EQ(key, "\x01\x02\x03\x04\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x00\x00\x00\x05"s);
  EXPECT_EQ(parse_undo_key(key)->time, 0x0102);
  EXPECT_EQ(parse_undo_key(key)->number, 5U);
  EXPECT_LT(undo_key(1, 7, 255), undo_key(1, 7, 256));
  EXPECT_LT(undo_key(1, 7, ~RecordNumber{0}), undo_key(1, 8, 0));
  EXPECT_FALSE(parse_undo_key(key + "x"));
  EXPECT_FALSE(parse_undo_key(key.substr(1)));
}

TEST(KeysTest, AfterPrefixIsTheFirstKeyBeyond) {
  EXPECT_EQ(after_prefix("ab"), "ac");
  EXPECT_EQ(after_prefix("a\xFF\xFF"), "b");
}

TEST(RecordNumber, IsShownWithTwentyOneDigitsInNumericOrder) {
  EXPECT_EQ(shown_number(0).text(), "100000000000000000000");
  EXPECT_EQ(shown_number(42).text(), "100000000000000000042");
  EXPECT_LT(shown_number(9), shown_number(10));
  const RecordNumber largest = std::numeric_limits<RecordNumber>::max();
  EXPECT_EQ(record_number(shown_number(largest)), largest);
}

TEST(RecordNumber, NumbersOfOtherStoresAreNone) {
  EXPECT_EQ(record_number(store::SequenceNumber()), std::nullopt);
  for (const char* text : {"42", "000000000000000000042", "1000000000000000000420", "300000000000000499659",
                           "199999999999999999999", "4916500000000018594543051"})
    EXPECT_EQ(record_number(store::SequenceNumber::parse(text).value()), std::nullopt) << text;
}

}  // namespace
}  // namespace postino::engine
