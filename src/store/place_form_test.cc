#include "store/place_form.h"

#include <gtest/gtest.h>

namespace postino::store {
namespace {

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
