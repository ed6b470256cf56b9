#include "engine/catalog/item_keys.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/storage/keys.h"

namespace postino::engine {
namespace {

using namespace std::string_literals;

Table keyed_table(bool with_range = true) {
  Table result;
  result.id = 0x01020304;
  result.hash = {"pk", item::Type::string};
  if (with_range) result.range = KeyPart{"sk", item::Type::number};
  return result;
}

Index index() {
  Index result;
  result.id = 0x0A0B0C0D;
  result.hash = {{"h", item::Type::string}};
  result.range = {{"r", item::Type::string}};
  return result;
}

// The upper half of the hash, big endian.
std::string hash_of(std::string_view bytes) {
  std::string result;
  base::append_big_endian(result, static_cast<std::uint32_t>(base::fast_hash(bytes) >> 32));
  return result;
}

// These bytes are on disk: docs/formats.md.
TEST(ItemKeysTest, ItemKeysHavePinnedBytes) {
  EXPECT_EQ(item_key(keyed_table(false), {{"pk", "a"}}), "\x01\x02\x03\x04\xE6\xC6\x32\xB6\x00\x01"s + "a");
  // The number 5: positive, first pair of digits at place 0, the pair plus one.
  EXPECT_EQ(item_key(keyed_table(), {{"pk", "a"}, {"sk", 5}}),
            "\x01\x02\x03\x04\xE6\xC6\x32\xB6\x00\x01"s + "a" + "\x03\x80\x06\x00"s);
}

TEST(ItemKeysTest, TheItemsOfAPartitionLieTogetherInOrder) {
  const std::string prefix = partition_prefix(keyed_table(), item::AttributeValue("p"));
  std::string last = prefix;
  for (const int number : {-1'000, -7, 0, 3, 20, 100}) {
    const std::string key = item_key(keyed_table(), {{"pk", "p"}, {"sk", number}});
    EXPECT_TRUE(key.starts_with(prefix));
    EXPECT_GT(key, last);
    last = key;
  }
  EXPECT_LT(last, after_prefix(prefix));
  // One partition key that begins with another is another partition.
  EXPECT_FALSE(item_key(keyed_table(), {{"pk", "pp"}, {"sk", 1}}).starts_with(prefix));
}

TEST(ItemKeysTest, IndexKeysHoldTheIndexKeyAndTheItemKey) {
  const std::string stored = item_key(keyed_table(false), {{"pk", "a"}});
  const auto key = index_key(index(), {{"pk", "a"}, {"h", "x"}, {"r", "y"}}, stored);
  ASSERT_TRUE(key);
  // Strings in the middle of a key end with 00 01.
  const std::string hash_bytes = "x\0\1"s;
  EXPECT_EQ(*key, "\x0A\x0B\x0C\x0D"s + hash_of(hash_bytes) + "\0\3"s + hash_bytes + "y\0\1"s + stored.substr(4));
}

TEST(ItemKeysTest, ItemsWithoutFittingKeysAreNotInAnIndex) {
  const std::string stored = item_key(keyed_table(false), {{"pk", "a"}});
  const auto is_in = [&](item::AttributeValue hash, item::AttributeValue range) {
    return index_key(index(), {{"h", std::move(hash)}, {"r", std::move(range)}}, stored).has_value();
  };
  EXPECT_TRUE(is_in("x", "y"));
  EXPECT_FALSE(index_key(index(), {{"h", "x"}}, stored));
  EXPECT_FALSE(index_key(index(), {{"r", "y"}}, stored));
  EXPECT_FALSE(is_in(1, "y"));
  EXPECT_FALSE(is_in("x", item::Binary{"y"}));
  EXPECT_FALSE(is_in("", "y"));
  EXPECT_FALSE(is_in("x", ""));
  EXPECT_TRUE(is_in(std::string(2'048, 'x'), std::string(1'024, 'y')));
  EXPECT_FALSE(is_in(std::string(2'049, 'x'), "y"));
  EXPECT_FALSE(is_in("x", std::string(1'025, 'y')));
}

TEST(ItemKeysTest, SegmentsCoverATableWithoutGapOrOverlap) {
  for (const std::uint32_t total : {1U, 2U, 3U, 7U, 1'000U, 1'000'000U}) {
    EXPECT_EQ(segment_range(5, 0, total).lower, id_prefix(5) + "\0\0\0\0"s);
    EXPECT_EQ(segment_range(5, total - 1, total).upper, id_prefix(6));
    for (std::uint32_t segment = 1; segment < total; segment += 1 + total / 50)
      EXPECT_EQ(segment_range(5, segment - 1, total).upper, segment_range(5, segment, total).lower);
  }
}

}  // namespace
}  // namespace postino::engine
