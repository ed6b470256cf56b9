#include "base/plausible_clock.h"

#include <gtest/gtest.h>

namespace postino::base {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class PlausibleClockTest : public testing::Test {
 protected:
  static constexpr TimePoint start{Milliseconds(1'794'735'000'000)};

  // What the metrics say.
  bool is_suspicious() const { return metric("_suspicious") == "1"; }
  std::uint64_t jumps() const { return std::stoull(metric("_jumps_total")); }
  std::string metric(const std::string& name) const {
    std::string metrics;
    clock_.append_metrics(metrics, "clock");
    const std::string begin = "\nclock" + name + " ";
    const std::size_t at = metrics.find(begin);
    EXPECT_NE(at, std::string::npos) << metrics;
    return metrics.substr(at + begin.size(), metrics.find('\n', at + 1) - at - begin.size());
  }

  ManualClock wall_{start};
  PlausibleClock clock_{wall_};
};

TEST_F(PlausibleClockTest, FollowsTimeThatPasses) {
  EXPECT_EQ(clock_.now(), start);
  wall_.advance(hours(24 * 60));
  EXPECT_EQ(clock_.now(), start + hours(24 * 60)) << "no caller looked for two months";
  EXPECT_FALSE(is_suspicious());
}

TEST_F(PlausibleClockTest, FollowsSmallCorrections) {
  wall_.set_by(seconds(9));
  EXPECT_EQ(clock_.now(), start + seconds(9));
  wall_.set_by(-seconds(10));
  EXPECT_EQ(clock_.now(), start - seconds(1));
  EXPECT_EQ(jumps(), 0U);
}

TEST_F(PlausibleClockTest, GoesOnFromThePlausibleTimeAfterAJump) {
  for (const Milliseconds jump : {Milliseconds(hours(24 * 40)), Milliseconds(-hours(24 * 40))}) {
    const TimePoint before = clock_.now();
    wall_.set_by(jump);
    EXPECT_EQ(clock_.now(), before);
    EXPECT_TRUE(is_suspicious());
    wall_.advance(seconds(8));
    EXPECT_EQ(clock_.now(), before + seconds(8));
    wall_.set_by(-jump);
    EXPECT_EQ(clock_.now(), before + seconds(8));
    EXPECT_FALSE(is_suspicious());
  }
  EXPECT_EQ(jumps(), 2U);
}

TEST_F(PlausibleClockTest, BelievesAJumpThatLasts) {
  wall_.set_by(hours(1));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(clock_.now(), start + minutes(i));
    wall_.advance(minutes(1));
  }
  EXPECT_EQ(clock_.now(), start + hours(1) + minutes(5));
  EXPECT_FALSE(is_suspicious());
}

TEST_F(PlausibleClockTest, AClockThatIsBehindTheLastProcessIsNotFollowed) {
  clock_.note_past(start + seconds(10));
  EXPECT_EQ(clock_.now(), start) << "a small correction";
  clock_.note_past(start - hours(1));
  EXPECT_EQ(clock_.now(), start);
  const TimePoint past = start + hours(24 * 24);
  clock_.note_past(past);
  EXPECT_EQ(clock_.now(), past);
  wall_.advance(minutes(1));
  EXPECT_EQ(clock_.now(), past + minutes(1));
  wall_.set_by(hours(24 * 24) + seconds(5));
  EXPECT_EQ(clock_.now(), past + minutes(1) + seconds(5)) << "it was set right";
  EXPECT_FALSE(is_suspicious());
}

TEST_F(PlausibleClockTest, AClockThatStaysBehindTheLastProcessIsBelieved) {
  clock_.note_past(start + hours(1));
  EXPECT_EQ(clock_.now(), start + hours(1));
  wall_.advance(minutes(5));
  EXPECT_EQ(clock_.now(), start + minutes(5)) << "the last process may have been wrong";
}

TEST_F(PlausibleClockTest, AClockThatIsFarAheadOfTheLastProcessIsDoubtedForAWhile) {
  clock_.note_past(start - hours(24));
  EXPECT_FALSE(clock_.is_doubtful()) << "a night is no gap";
  clock_.note_past(start - hours(24 * 40));
  EXPECT_TRUE(clock_.is_doubtful());
  EXPECT_EQ(clock_.now(), start) << "new things have their time";
  wall_.advance(minutes(4));
  EXPECT_TRUE(clock_.is_doubtful());
  wall_.advance(minutes(1));
  EXPECT_FALSE(clock_.is_doubtful());
  EXPECT_EQ(clock_.now(), start + minutes(5));
}

TEST_F(PlausibleClockTest, AClockThatIsDoubtedMayBeSetBack) {
  clock_.note_past(start - hours(24 * 40));
  wall_.advance(minutes(1));
  wall_.set_by(-hours(24 * 39));
  EXPECT_EQ(clock_.now(), start + minutes(1) - hours(24 * 39));
  EXPECT_FALSE(clock_.is_doubtful());
  EXPECT_FALSE(is_suspicious());
}

TEST_F(PlausibleClockTest, AClockThatIsDoubtedIsNotSetBackBeforeTheLastProcess) {
  clock_.note_past(start - hours(24 * 40));
  wall_.set_by(-hours(24 * 41));
  EXPECT_EQ(clock_.now(), start);
  EXPECT_TRUE(is_suspicious());
}

TEST_F(PlausibleClockTest, AClockThatJumpsAgainBeginsAnew) {
  wall_.set_by(hours(1));
  EXPECT_EQ(clock_.now(), start);
  wall_.advance(minutes(4));
  wall_.set_by(hours(1));
  EXPECT_EQ(clock_.now(), start + minutes(4));
  wall_.advance(minutes(4));
  EXPECT_EQ(clock_.now(), start + minutes(8)) << "it was there for four minutes";
  wall_.advance(minutes(1));
  EXPECT_EQ(clock_.now(), start + hours(2) + minutes(9));
}

TEST_F(PlausibleClockTest, RemembersThePast) {
  EXPECT_EQ(clock_.past(), std::nullopt);
  clock_.note_past(start - hours(1));
  EXPECT_EQ(clock_.past(), start - hours(1));
}

// The store's maintenance and the outbox have more of this.
TEST_F(PlausibleClockTest, AnAgeWatchWaitsForAnHourAfterAGap) {
  AgeWatch fresh(clock_, "test");
  EXPECT_FALSE(fresh.is_trusted()) << "it has not looked";
  fresh.look();
  EXPECT_TRUE(fresh.is_trusted());
  AgeWatch watch(clock_, "test");
  watch.begin(start - hours(24 * 40));
  watch.look();
  EXPECT_FALSE(watch.is_trusted());
  EXPECT_EQ(watch.to_note(), std::nullopt) << "it may be wrong";
  wall_.advance(hours(1));
  watch.look();
  EXPECT_TRUE(watch.is_trusted());
  EXPECT_EQ(watch.to_note(), start + hours(1));
}

TEST_F(PlausibleClockTest, AnAgeWatchNotesTheTimeNowAndThen) {
  AgeWatch watch(clock_, "test");
  EXPECT_EQ(watch.to_note(), std::nullopt);
  watch.look();
  EXPECT_EQ(watch.to_note(), start);
  watch.look();
  EXPECT_EQ(watch.to_note(), start) << "it was not noted";
  watch.noted();
  wall_.advance(minutes(4));
  watch.look();
  EXPECT_EQ(watch.to_note(), std::nullopt);
  wall_.advance(minutes(1));
  watch.look();
  EXPECT_EQ(watch.to_note(), start + minutes(5));
}

TEST_F(PlausibleClockTest, TellsOthers) {
  wall_.set_by(hours(1));
  std::string metrics;
  clock_.append_metrics(metrics);
  EXPECT_NE(metrics.find("postino_clock_jumps_total 1\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("postino_clock_suspicious 1\n"), std::string::npos) << metrics;
  clock_.append_metrics(metrics, "postino_other");
  EXPECT_NE(metrics.find("postino_other_suspicious 1\n"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace postino::base
