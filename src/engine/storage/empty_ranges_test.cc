#include "engine/storage/empty_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "base/random.h"

namespace postino::engine {

void PrintTo(const KeyRange& range, std::ostream* out) { *out << "[" << range.lower << ", " << range.upper << ")"; }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const KeyRange everything = {"a", "z"};

class EmptyRangesTest : public testing::Test {
 protected:
  std::vector<KeyRange> parts(const KeyRange& range = everything) { return EmptyRanges::Watch(ranges_, range).parts(); }
  void find_empty(const KeyRange& range) { EmptyRanges::Watch(ranges_, everything).found_empty(range); }

  EmptyRanges ranges_;
};

TEST_F(EmptyRangesTest, AreLeftOut) {
  EXPECT_THAT(parts(), ElementsAre(everything));
  find_empty({"d", "h"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"h", "z"}));
  EXPECT_THAT(parts({"a", "d"}), ElementsAre(KeyRange{"a", "d"}));
  EXPECT_THAT(parts({"a", "e"}), ElementsAre(KeyRange{"a", "d"}));
  EXPECT_THAT(parts({"e", "f"}), IsEmpty());
  EXPECT_THAT(parts({"d", "h"}), IsEmpty());
  EXPECT_THAT(parts({"e", "i"}), ElementsAre(KeyRange{"h", "i"}));
  EXPECT_THAT(parts({"h", "i"}), ElementsAre(KeyRange{"h", "i"}));
}

TEST_F(EmptyRangesTest, ThoseThatTouchBecomeOne) {
  find_empty({"d", "f"});
  find_empty({"h", "k"});
  EXPECT_EQ(ranges_.count(), 2U);
  find_empty({"f", "h"});
  EXPECT_EQ(ranges_.count(), 1U);
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"k", "z"}));
  find_empty({"b", "y"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "b"}, KeyRange{"y", "z"}));
}

TEST_F(EmptyRangesTest, EndWhereAKeyIsPut) {
  find_empty({"d", "k"});
  ranges_.note_puts({"c", "k"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"k", "z"})) << "these are outside";
  ranges_.note_puts({"f"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"f", "z"}));
  ranges_.note_puts({"d"});
  EXPECT_THAT(parts(), ElementsAre(everything));
}

TEST_F(EmptyRangesTest, WhatIsPutWhileAReaderLooksIsNotEmpty) {
  EmptyRanges::Watch watch(ranges_, everything);
  ranges_.note_puts({"m", "f", "zz"});  // the iterator may be older
  watch.found_empty({"d", "k"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"f", "z"}));
  watch.found_empty({"m", "z"});
  EXPECT_THAT(parts(), ElementsAre(KeyRange{"a", "d"}, KeyRange{"f", "z"}));
}

TEST_F(EmptyRangesTest, AReaderThatMissedPutsIsNotBelieved) {
  EmptyRanges::Watch watch(ranges_, everything);
  for (int i = 0; i < 2'000; ++i) ranges_.note_puts({"m"});
  watch.found_empty({"d", "k"});
  EXPECT_THAT(parts(), ElementsAre(everything));
}

TEST_F(EmptyRangesTest, AreNotTooMany) {
  for (int i = 0; i < 1'000; ++i) {
    const std::string first = "b" + std::to_string(100'000 + i);
    find_empty({first, first + "5"});
  }
  EXPECT_GT(ranges_.count(), 0U);
  EXPECT_LE(ranges_.count(), 256U);
}

// Readers that are slow, and keys that come and go meanwhile: what is left out never has a key in it.
TEST_F(EmptyRangesTest, NeverHaveAKeyInThem) {
  constexpr std::uint64_t seed = 7;
  base::SeededRandom random(seed);
  const auto any_key = [&] { return "b" + std::to_string(100 + random.next() % 100); };
  std::set<std::string> keys;
  for (int round = 0; round < 1'500; ++round) {
    EmptyRanges::Watch watch(ranges_, everything);
    const std::set<std::string> seen = keys;  // the iterator's point in time
    for (std::uint64_t changes = random.next() % 4; changes > 0; --changes) {
      const std::string key = any_key();
      if (random.next() % 3 == 0) {
        keys.insert(key);
        ranges_.note_puts({key});
      } else {
        keys.erase(key);
      }
    }
    KeyRange range = {any_key(), any_key()};
    const auto next = seen.lower_bound(range.lower);
    if (range.lower < range.upper && (next == seen.end() || *next >= range.upper)) watch.found_empty(range);
    for (const std::string& key : keys) {
      const KeyRange only = {key, key + '\0'};
      ASSERT_EQ(parts(only), std::vector{only}) << "seed " << seed << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace postino::engine
