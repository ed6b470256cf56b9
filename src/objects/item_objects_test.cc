#include "objects/item_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::objects {
namespace {

using testing::Optional;

const ObjectKind kind{"large-items", "large_data_uri", ".json"};
const KeyedTable tickets{"tickets", {{"PK", item::Type::string}, {"SK", item::Type::string}}};
const KeyedTable counters{"counters", {{"Id", item::Type::number}}};
const KeyedTable blobs{"blobs", {{"Id", item::Type::binary}, {"Number", item::Type::number}}};

TEST(ItemObjectsTest, NamesSayWhoseTheyAre) {
  const item::Item ticket{{"PK", "TICKET#1"}, {"SK", "METADATA"}, {"status", "NEW"}};
  const auto name = name_for_item(kind, tickets, ticket, "v1");
  EXPECT_THAT(name, Optional(std::string("large-items/tickets/TICKET#1/METADATA/v1.json")));
  EXPECT_THAT(owner_of_object(kind, tickets, *name), Optional(item::Key{{"PK", "TICKET#1"}, {"SK", "METADATA"}}));
  EXPECT_THAT(name_for_item(kind, counters, item::Item{{"Id", 12}}, "v"),
              Optional(std::string("large-items/counters/12/v.json")));
}

TEST(ItemObjectsTest, AnyKeyComesBack) {
  for (const std::string& text : {std::string("a/b"), std::string(".."), std::string("."), std::string("%41"),
                                  std::string("é\n"), std::string("a#b=c"), std::string("../../etc/passwd")}) {
    const item::Key key{{"PK", text}, {"SK", "x/" + text}};
    const auto name = name_for_item(kind, tickets, key, "v1");
    ASSERT_TRUE(name) << text;
    EXPECT_TRUE(check_object_name(*name)) << *name;
    EXPECT_THAT(owner_of_object(kind, tickets, *name), Optional(key)) << *name;
  }
  const item::Key key{{"Id", item::Binary{std::string("\0/\xFF", 3)}}, {"Number", item::Number::parse("-1.5").value()}};
  const auto name = name_for_item(kind, blobs, key, "v1");
  ASSERT_TRUE(name);
  EXPECT_THAT(owner_of_object(kind, blobs, *name), Optional(key));
}

TEST(ItemObjectsTest, KeysThatAreTooLongHaveNoName) {
  EXPECT_EQ(name_for_item(kind, tickets, item::Key{{"PK", std::string(251, 'k')}, {"SK", "x"}}, "v"), std::nullopt);
  EXPECT_EQ(name_for_item(kind, tickets, item::Key{{"PK", "k"}}, "v"), std::nullopt) << "no range key";
}

TEST(ItemObjectsTest, OtherNamesHaveNoOwner) {
  for (const char* name :
       {"large-items/tickets/TICKET#1/METADATA.json", "large-items/tickets/TICKET#1/METADATA/v1",
        "large-items/tickets/TICKET#1/METADATA/.json", "large-items/tickets/TICKET#1/METADATA/v/1.json",
        "large-items/other/TICKET#1/METADATA/v1.json", "attachments/tickets/TICKET#1/METADATA/v1.json",
        "large-items/tickets/%54ICKET#1/METADATA/v1.json", "large-items/tickets//METADATA/v1.json",
        "large-items/tickets/"})
    EXPECT_EQ(owner_of_object(kind, tickets, name), std::nullopt) << name;
  EXPECT_EQ(owner_of_object(kind, counters, "large-items/counters/one/v.json"), std::nullopt);
}

TEST(ItemObjectsTest, AnItemRefersToItsOwnAlone) {
  item::Item item{{"PK", "TICKET#1"}, {"SK", "METADATA"}};
  EXPECT_EQ(object_of_item(kind, tickets, "bucket", item), std::nullopt);
  item.set("large_data_uri", "s3://bucket/large-items/tickets/TICKET#1/METADATA/v1.json");
  EXPECT_THAT(object_of_item(kind, tickets, "bucket", item),
              Optional(std::string("large-items/tickets/TICKET#1/METADATA/v1.json")));
  EXPECT_EQ(object_of_item(kind, tickets, "other", item), std::nullopt);
  item.set("PK", "TICKET#2");
  EXPECT_EQ(object_of_item(kind, tickets, "bucket", item), std::nullopt) << "another item's";
  item.set("large_data_uri", std::string("s3://bucket/large-items/tickets/TICKET#2/METADATA/v") + '\0' + ".json");
  EXPECT_EQ(object_of_item(kind, tickets, "bucket", item), std::nullopt) << "no name of an object";
}

}  // namespace
}  // namespace postino::objects
