#include "store/stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace postino::store {
namespace {

SequenceNumber digits(std::string_view text) { return SequenceNumber::parse(text).value(); }

TEST(SequenceNumber, HasTheTextItWasParsedFrom) {
  for (const char* text : {"0", "7", "000000000000000000042", "100000000000000000042", "300000000000000499659",
                           "9999999999999999999999999999999999999999"})
    EXPECT_EQ(digits(text).text(), text);
}

TEST(SequenceNumber, IsComparedAsANumber) {
  const std::vector<SequenceNumber> ascending{SequenceNumber(),
                                              digits("0"),
                                              digits("9"),
                                              digits("09"),
                                              digits("10"),
                                              digits("99999999999999999999"),
                                              digits("100000000000000000000"),
                                              digits("9999999999999999999999999999999999999999")};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i] < ascending[j], i < j) << i << " " << j;
      EXPECT_EQ(ascending[i] == ascending[j], i == j) << i << " " << j;
    }
}

TEST(SequenceNumber, TheDefaultOneIsNone) {
  EXPECT_TRUE(SequenceNumber().is_none());
  EXPECT_EQ(SequenceNumber().text(), "");
  EXPECT_FALSE(digits("0").is_none());
}

TEST(SequenceNumber, OnlyDigitsAreOne) {
  for (const char* text : {"", "4 2", "-1", "4x", "1.0", "99999999999999999999999999999999999999991"})
    EXPECT_EQ(SequenceNumber::parse(text), std::nullopt) << text;
}

StreamRecord record_at(const char* number, const char* shard = nullptr) {
  StreamRecord record;
  record.sequence_number = SequenceNumber::parse(number).value();
  if (shard != nullptr) record.shard = std::make_shared<const std::string>(shard);
  return record;
}

// Receivers recognise messages by it.
TEST(StreamRecord, ItsNameIsItsNumberWithAMarkOfItsShard) {
  EXPECT_EQ(name_of(record_at("100000000000000000042")), "100000000000000000042");
  const std::string name = name_of(record_at("300000000000000499659", "shardId-1"));
  EXPECT_EQ(name.substr(0, 22), "300000000000000499659-");
  EXPECT_EQ(name.size(), 38U);
  EXPECT_NE(name, name_of(record_at("300000000000000499659", "shardId-2")));
}

TEST(StreamPlace, MovesInOneSequence) {
  StreamPlace place = place_in_sequence("arn:1", SequenceNumber::parse("7").value());
  EXPECT_TRUE(place.has_done(record_at("7")));
  EXPECT_FALSE(place.has_done(record_at("8")));
  place.move_to(record_at("8"));
  EXPECT_EQ(place, place_in_sequence("arn:1", SequenceNumber::parse("8").value()));
}

TEST(StreamPlace, MovesInEachShardByItself) {
  StreamPlace place{.stream = "arn:1", .positions = {{"a", SequenceNumber()}}};
  place.move_to(record_at("20", "b"));
  EXPECT_FALSE(place.has_done(record_at("10", "a")));
  EXPECT_TRUE(place.has_done(record_at("10", "b")));
  EXPECT_FALSE(place.has_done(record_at("10"))) << "of no shard";
  place.move_to(record_at("10", "a"));
  EXPECT_TRUE(place.has_done(record_at("10", "a")));
  EXPECT_FALSE(place.has_done(record_at("11", "a")));
}

}  // namespace
}  // namespace postino::store
