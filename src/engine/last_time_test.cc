// A store tells its clock when it was last open.
#include <gtest/gtest.h>

#include "base/plausible_clock.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"

namespace postino::engine {
namespace {

constexpr base::TimePoint noon{base::Milliseconds(1'794'744'000'000)};

class LastTimeTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> open(std::shared_ptr<base::Clock> clock) {
    Options options;
    options.directory = directory_.path() / "data";
    options.durability = Durability::relaxed;
    options.background = false;
    options.clock = std::move(clock);
    return Engine::open(std::move(options)).value();
  }

  base::TemporaryDirectory directory_{memory_directory()};
  base::ManualClock wall_{noon};
};

TEST_F(LastTimeTest, AClockThatWasSetBackBeforeTheStartIsNotFollowed) {
  EXPECT_TRUE(open(std::make_shared<base::PlausibleClock>(wall_))->run_maintenance_once());
  wall_.set_by(-std::chrono::hours(24 * 24));
  const auto clock = std::make_shared<base::PlausibleClock>(wall_);
  const auto engine = open(clock);
  EXPECT_EQ(clock->now(), noon);
}

TEST_F(LastTimeTest, AMachineThatWasOffIsFollowed) {
  EXPECT_TRUE(open(std::make_shared<base::PlausibleClock>(wall_))->run_maintenance_once());
  wall_.advance(std::chrono::hours(24 * 60));
  const auto clock = std::make_shared<base::PlausibleClock>(wall_);
  const auto engine = open(clock);
  EXPECT_EQ(clock->now(), noon + std::chrono::hours(24 * 60));
}

}  // namespace
}  // namespace postino::engine
