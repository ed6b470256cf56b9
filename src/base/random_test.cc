#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::base {
namespace {

TEST(Random, ASeedRepeatsItself) {
  SeededRandom first(7), second(7), other(8);
  const std::uint64_t value = first.next();
  EXPECT_EQ(second.next(), value);
  EXPECT_NE(other.next(), value);
}

TEST(Random, AUuidHasItsVersionAndVariant) {
  SystemRandom random;
  const std::string uuid = make_uuid(random);
  EXPECT_THAT(uuid, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(uuid, make_uuid(random));
}

TEST(Random, OrderedUuidsBeginWithTheTime) {
  SeededRandom random(1);
  const TimePoint now = from_epoch_milliseconds(0x0123'4567'89AB);
  const std::string uuid = make_ordered_uuid(now, random);
  EXPECT_THAT(uuid, testing::MatchesRegex("01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(uuid, make_ordered_uuid(now, random));
  EXPECT_LT(uuid, make_ordered_uuid(now + Milliseconds(1), random));
}

}  // namespace
}  // namespace postino::base
