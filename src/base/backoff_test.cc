#include "base/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace postino::base {
namespace {

// Always the largest number, or always the smallest.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(std::uint64_t number) : number_(number) {}
  std::uint64_t next() override { return number_; }

 private:
  const std::uint64_t number_;
};

TEST(Backoff, DoublesUpToItsLimit) {
  const Backoff backoff{Milliseconds(100), Milliseconds(1'000)};
  SeededRandom random(7);
  const std::int64_t ceilings[] = {100, 200, 400, 800, 1'000, 1'000};
  for (int failures = 1; failures <= 6; ++failures) {
    std::int64_t least = 1'000'000;
    std::int64_t most = -1;
    for (int i = 0; i < 3'000; ++i) {
      const std::int64_t full = backoff.full_jitter(failures, random).count();
      const std::int64_t equal = backoff.equal_jitter(failures, random).count();
      const std::int64_t ceiling = ceilings[failures - 1];
      ASSERT_TRUE(full >= 0 && full < ceiling) << full;
      ASSERT_TRUE(equal >= ceiling / 2 && equal < ceiling) << equal;
      least = std::min(least, full);
      most = std::max(most, full);
    }
    EXPECT_LT(least, ceilings[failures - 1] / 20) << "the whole range is used";
    EXPECT_GT(most, ceilings[failures - 1] * 19 / 20);
  }
}

TEST(Backoff, NeitherManyFailuresNorNoDelayBreakIt) {
  FixedRandom random(~std::uint64_t{0});
  EXPECT_LE(Backoff().full_jitter(1'000'000, random), Milliseconds(1'000));
  EXPECT_EQ((Backoff{Milliseconds(0), Milliseconds(0)}.full_jitter(3, random)), Milliseconds(0));
  EXPECT_EQ((Backoff{Milliseconds(1), Milliseconds(1)}.equal_jitter(3, random)), Milliseconds(0));
}

}  // namespace
}  // namespace postino::base
