#include "capacity/heavy_hitters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/random.h"

namespace postino::capacity {
namespace {

void add(HeavyHitters& hitters, const std::string& key, std::uint64_t amount, std::int64_t second = 0) {
  hitters.add(static_cast<std::uint32_t>(base::fast_hash(key)), key, amount, second);
}

std::map<std::string, HeavyHitters::Key> by_name(const HeavyHitters& hitters) {
  std::map<std::string, HeavyHitters::Key> keys;
  for (HeavyHitters::Key& key : hitters.keys()) keys.emplace(key.bytes, std::move(key));
  return keys;
}

TEST(HeavyHitters, CountsFewKeysExactly) {
  HeavyHitters hitters;
  for (int i = 0; i < 100; ++i) add(hitters, "key " + std::to_string(i % 16), 3);
  const auto keys = by_name(hitters);
  ASSERT_EQ(keys.size(), 16U);
  EXPECT_EQ(keys.at("key 0").amount, 21U);
  EXPECT_EQ(keys.at("key 15").amount, 18U);
  for (const auto& [name, key] : keys) EXPECT_EQ(key.most_excess, 0U) << name;
}

// What the sketch promises, against exact counts: no key got less than it says, and those with much are there.
TEST(HeavyHitters, KeepsItsBoundsAmongManyKeys) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    base::SeededRandom random(seed);
    HeavyHitters hitters;
    std::map<std::string, std::uint64_t> exact;
    std::uint64_t all = 0;
    for (int i = 0; i < 20'000; ++i) {
      // A few keys get most of it.
      const std::uint64_t number = random.next() % 2 == 0 ? random.next() % 4 : 4 + random.next() % 5'000;
      const std::string key = std::to_string(number);
      const std::uint64_t amount = 1 + random.next() % 8;
      exact[key] += amount;
      all += amount;
      add(hitters, key, amount, i / 100);
    }
    const auto keys = by_name(hitters);
    EXPECT_LE(keys.size(), HeavyHitters::most_keys);
    for (const auto& [name, key] : keys) {
      EXPECT_LE(key.amount - key.most_excess, exact[name]) << seed << " " << name;
      EXPECT_LE(key.most_in_a_second, exact[name]) << seed << " " << name;
    }
    for (const char* const hot : {"0", "1", "2", "3"}) {
      ASSERT_TRUE(keys.contains(hot)) << seed << " " << hot;
      // Hardly anything was missed before it was found.
      EXPECT_GT((keys.at(hot).amount - keys.at(hot).most_excess) * 100, exact[hot] * 95) << seed << " " << hot;
      EXPECT_LT(keys.at(hot).amount * 100, exact[hot] * 105) << seed << " " << hot;
    }
    for (const auto& [name, key] : keys)
      if (name.size() > 1) EXPECT_LT(key.amount, all / HeavyHitters::most_keys) << seed << " " << name;
  }
}

TEST(HeavyHitters, KnowsTheMostWithinASecond) {
  HeavyHitters hitters;
  for (int i = 0; i < 5; ++i) add(hitters, "a", 2, 1);
  for (int i = 0; i < 7; ++i) add(hitters, "a", 2, 2);
  add(hitters, "a", 2, 9);
  EXPECT_EQ(by_name(hitters).at("a").most_in_a_second, 14U);
}

TEST(HeavyHitters, CutsLongKeys) {
  HeavyHitters hitters;
  const std::string kept(HeavyHitters::most_key_bytes, 'x');
  add(hitters, kept, 1);
  add(hitters, kept + "y", 1);
  add(hitters, kept + "z", 1);
  ASSERT_EQ(hitters.keys().size(), 3U);  // their hashes differ
  EXPECT_EQ(std::ranges::count(hitters.keys(), true, &HeavyHitters::Key::is_cut), 2);
  for (const HeavyHitters::Key& key : hitters.keys()) EXPECT_EQ(key.bytes, kept);
}

TEST(HeavyHitters, BeginsAnew) {
  HeavyHitters hitters;
  add(hitters, "a", 1);
  hitters.clear();
  EXPECT_TRUE(hitters.keys().empty());
}

}  // namespace
}  // namespace postino::capacity
