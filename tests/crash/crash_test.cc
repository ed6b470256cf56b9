// Kills a writing process at random moments, and checks after each kill that the store has lost nothing it promised.
//
// POSTINO_SEED repeats a run as far as threads allow; POSTINO_TEST_EFFORT multiplies the kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "announcement.h"
#include "base/effort_testing.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "history.h"
#include "writer_process.h"

namespace postino::crash {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The writers' time leaps ahead from one to the next, so that streams roll and are trimmed, and items expire.
constexpr base::TimePoint first_start = base::TimePoint(std::chrono::seconds(1'767'323'045));
constexpr base::Milliseconds step_between_writers = std::chrono::hours(1);
constexpr base::Milliseconds step_to_check = std::chrono::minutes(5);

class CrashTest : public testing::Test {
 protected:
  CrashTest() : seed_(choose_seed()), random_(seed_) { std::cout << "POSTINO_SEED=" << seed_ << std::endl; }

  static std::uint64_t choose_seed() {
    const char* given = std::getenv("POSTINO_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  }

  base::TimePoint start_of(int round) const { return first_start + round * step_between_writers; }

  base::Result<std::unique_ptr<engine::Engine>> open(int round) {
    engine::Options options;
    options.directory = directory_.path() / "data";
    options.background = false;
    options.clock = std::make_shared<base::ManualClock>(start_of(round) + step_to_check);
    return engine::Engine::open(options);
  }

  // From nothing at all, which kills it while it opens the store, to a thousand acknowledged operations.
  std::int64_t choose_moment() {
    switch (random_() % 8) {
      case 0:
        return 0;
      case 1:
        return 1 + static_cast<std::int64_t>(random_() % 20);
      default:
        return 1 + static_cast<std::int64_t>(random_() % 1'000);
    }
  }

  void run_writer(int round) {
    // The first one gets something done, whatever chance says.
    const std::int64_t moment = round == 1 ? 1 : choose_moment();
    WriterProcess writer({CRASH_WRITER, (directory_.path() / "data").string(), std::to_string(round),
                          std::to_string(random_()), std::to_string(base::epoch_seconds(start_of(round)))});
    while (history_.acknowledged_in_round() < moment) {
      const auto line = writer.next_line();
      ASSERT_TRUE(line) << "the writer ended by itself";
      history_.announced(*line);
      if (line->front() == mark_ready && round % 5 == 0) expect_locked(round);
    }
    if (moment == 0) writer.next_line();
    ASSERT_TRUE(writer.kill());
    ++totals_.kills;
    while (const auto line = writer.next_line()) history_.announced(*line);
  }

  void expect_locked(int round) {
    const auto second = open(round);
    ASSERT_FALSE(second) << "two processes have the store open";
    EXPECT_EQ(second.error().code, base::ErrorCode::conflict);
    EXPECT_THAT(second.error().message, HasSubstr("'" + (directory_.path() / "data").string() + "'"));
  }

  void check(engine::Engine& engine, int round, const char* when) {
    const Faults faults = history_.check(engine, start_of(round) + step_to_check);
    EXPECT_THAT(faults, IsEmpty()) << when << ", round " << round << ", POSTINO_SEED=" << seed_;
  }

  void check_round(int round) {
    {
      const auto engine = open(round);
      ASSERT_TRUE(engine) << engine.error().message;
      check(**engine, round, "after the kill");
      expect_locked(round);
      EXPECT_THAT(history_.repeat_transactions(**engine), IsEmpty()) << "round " << round;
      check(**engine, round, "after repeating transactions");
      finish_maintenance(**engine);
      check(**engine, round, "after maintenance");
    }
    const auto engine = open(round);
    ASSERT_TRUE(engine) << engine.error().message;
    check(**engine, round, "after opening again");
    history_.end_round(totals_);
  }

  static void finish_maintenance(engine::Engine& engine) {
    while (true) {
      const auto more = engine.run_maintenance_once();
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) break;
    }
    const auto orders = engine.describe_table(table_name(TableNumber::orders));
    ASSERT_TRUE(orders);
    for (const store::IndexDescription& index : orders->global_indexes)
      EXPECT_EQ(index.status, store::IndexStatus::active) << index.name;
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  base::TemporaryDirectory directory_;
  History history_;
  Totals totals_;
};

TEST_F(CrashTest, NothingAcknowledgedIsLostAndNothingIsHalfDone) {
  const int kills = 20 * base::test_effort();
  {
    const auto engine = open(0);
    ASSERT_TRUE(engine) << engine.error().message;
    create_tables(**engine);
  }
  for (int round = 1; round <= kills && !HasFailure(); ++round) {
    run_writer(round);
    if (!HasFailure()) check_round(round);
  }
  std::cout << totals_.kills << " kills, " << totals_.acknowledged << " acknowledged operations, " << totals_.refused
            << " refused, in flight " << totals_.in_flight_applied << " applied and " << totals_.in_flight_not_applied
            << " not, " << totals_.repeated_transactions << " transactions repeated, " << totals_.stream_records
            << " stream records, " << totals_.expired << " items expired" << std::endl;
  EXPECT_EQ(totals_.kills, kills);
  EXPECT_GT(totals_.acknowledged, 0);
}

}  // namespace
}  // namespace postino::crash
