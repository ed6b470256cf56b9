#include "store/stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "store/place_form.h"

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

SequenceNumber numbered(std::string_view text) { return SequenceNumber::parse(text).value(); }

const StreamPlace& sequence_place() {
  static const StreamPlace place = place_in_sequence("arn:1", numbered("100000000000000000042"));
  return place;
}
const StreamPlace& shards_place() {
  static const StreamPlace place{
      .stream = "arn:2",
      .positions = {{"shardId-1", numbered("300000000000000499659")}, {"shardId-2", SequenceNumber()}}};
  return place;
}

// Other programs and operators see these forms, and earlier versions have written the first one.
TEST(PlaceForm, AnItemHasThePosition) {
  item::Item item;
  put_place(item, "sequence", sequence_place());
  EXPECT_EQ(item, (item::Item{{"sequence", "100000000000000000042"}, {"stream", "arn:1"}}));
  EXPECT_EQ(place_in(item, "sequence"), sequence_place());
}

TEST(PlaceForm, AnItemHasThePositionsOfShards) {
  item::Item item;
  put_place(item, "sequence", shards_place());
  EXPECT_EQ(item, (item::Item{{"shards", item::Map{{"shardId-1", "300000000000000499659"}, {"shardId-2", ""}}},
                              {"stream", "arn:2"}}));
  EXPECT_EQ(place_in(item, "sequence"), shards_place());
}

TEST(PlaceForm, SomethingElseIsNoPlace) {
  using item::Item;
  using item::Map;
  for (const Item& item :
       {Item{{"stream", "arn:1"}}, Item{{"sequence", "x"}, {"stream", "arn:1"}}, Item{{"sequence", 7}},
        Item{{"shards", "shardId-1"}}, Item{{"shards", Map{}}}, Item{{"shards", Map{{"shardId-1", "x"}}}},
        Item{{"shards", Map{{"shardId-1", 7}}}}, Item{{"shards", Map{{"", "7"}}}}})
    EXPECT_EQ(place_in(item, "sequence"), std::nullopt);
}

TEST(PlaceForm, TheTextHasThePositionOrThoseOfShards) {
  EXPECT_EQ(text_of_place(sequence_place()), "100000000000000000042 arn:1");
  EXPECT_EQ(text_of_place(shards_place()), "shardId-1=300000000000000499659,shardId-2= arn:2");
  for (const StreamPlace& place : {sequence_place(), shards_place()})
    EXPECT_EQ(place_in_text(text_of_place(place)), place);
}

TEST(PlaceForm, AnotherTextIsNoPlace) {
  for (const char* text :
       {"", "somewhere", "42", "x arn:1", " arn:1", "a=1, arn:1", "=1 arn:1", "a=x arn:1", "a=1,42 arn:1"})
    EXPECT_EQ(place_in_text(text), std::nullopt) << text;
}

}  // namespace
}  // namespace postino::store
