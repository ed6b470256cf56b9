#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <thread>

#include "base/effort_testing.h"
#include "base/temporary_directory.h"
#include "engine/consistency_testing.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
#include "engine/storage/power_loss_env_testing.h"
#include "engine/write_workload_testing.h"

namespace postino::engine {
namespace {

constexpr int power_loss_writers = 4;
constexpr int rounds_per_directory = 8;
const store::Error trouble(store::ErrorType::internal_server_error, "");

struct Losses {
  std::size_t acknowledged = 0;
  std::size_t lost = 0;  // of the acknowledged ones
  std::size_t in_flight_applied = 0;
  std::size_t in_flight_not_applied = 0;
};

// One directory over several power losses. Failures name the seed it was made from.
class PowerLossHistory {
 public:
  PowerLossHistory(std::uint64_t seed, Durability durability)
      : trace_(__FILE__, __LINE__, "seed " + std::to_string(seed)), random_(seed), durability_(durability) {
    for (int number = 0; number < power_loss_writers; ++number) writers_.emplace_back(number, seed + number);
    PowerLossEnv disk;
    const auto engine = open(disk);
    if (engine) create_workload_tables(*engine);
  }

  void run_round(Losses& losses) {
    write_until_power_is_cut();
    PowerLossEnv disk;
    const auto engine = open(disk);
    ASSERT_TRUE(engine);
    for (WorkloadWriter& writer : writers_) check_writer(*engine, writer, losses);
    for (const std::string& table_name : workload_tables)
      for (const std::string& fault : check_table(*engine, table_name)) ADD_FAILURE() << fault;
    for (StreamReplay& replay : fresh_replays())
      for (const std::string& fault : replay.follow(*engine)) ADD_FAILURE() << fault;
  }

 private:
  // Nothing when the power is gone before the store is open.
  std::unique_ptr<Engine> open(PowerLossEnv& disk) {
    Options options;
    options.directory = directory_.path() / "data";
    options.durability = durability_;
    options.memtable_bytes = 128 << 10;  // so that flushes and their files are caught in the act
    auto engine = Engine::open(options, disk.env());
    if (!engine && disk.has_power()) ADD_FAILURE() << engine.error().message;
    return engine ? std::move(*engine) : nullptr;
  }

  void write_until_power_is_cut() {
    PowerLossEnv disk;
    disk.cut_power_after(static_cast<std::int64_t>(random_() % (random_() % 4 == 0 ? 30 : 600)));
    if (const auto engine = open(disk)) {
      std::vector<std::thread> threads;
      for (WorkloadWriter& writer : writers_)
        threads.emplace_back([&] {
          while (writer.write_once(*engine)) {
          }
        });
      for (std::thread& thread : threads) thread.join();
    }
    disk.cut_power();
    disk.lose_unsynced(random_, random_() % 2 == 0 ? UnsyncedTail::gone : UnsyncedTail::torn);
  }

  void check_writer(Engine& engine, WorkloadWriter& writer, Losses& losses) {
    const store::ErrorType type = writer.error().value_or(trouble).type;
    const bool is_refused = type == store::ErrorType::service_unavailable;  // it was not the one that met the power cut
    EXPECT_TRUE(is_refused || type == store::ErrorType::internal_server_error) << store::error_name(type);
    const std::size_t acknowledged = writer.acknowledged();
    const std::size_t least = durability_ == Durability::synced ? acknowledged : 0;
    const auto prefix = writer.matching_prefix(engine, least);
    losses.acknowledged += acknowledged;
    if (!prefix) {
      ADD_FAILURE() << "the store has "
                    << (writer.matching_prefix(engine, 0) ? "lost acknowledged writes" : "a mixture") << " after "
                    << acknowledged << " acknowledged writes";
      return;
    }
    EXPECT_FALSE(is_refused && *prefix > acknowledged) << "the store has a write that was refused";
    losses.lost += acknowledged - std::min(acknowledged, *prefix);
    if (writer.attempted() > acknowledged)
      ++(*prefix > acknowledged ? losses.in_flight_applied : losses.in_flight_not_applied);
    writer.settle(*prefix);
  }

  static std::vector<StreamReplay> fresh_replays() {
    return std::vector<StreamReplay>(workload_tables.begin(), workload_tables.end());
  }

  const testing::ScopedTrace trace_;
  std::mt19937_64 random_;
  const Durability durability_;
  base::TemporaryDirectory directory_{memory_directory()};
  std::vector<WorkloadWriter> writers_;
};

std::uint64_t first_seed() {
  const char* given = std::getenv("POSTINO_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

Losses run_power_losses(Durability durability, int directories) {
  Losses losses;
  const std::uint64_t seed = first_seed();
  std::cout << "POSTINO_SEED=" << seed << '\n';
  for (int i = 0; i < directories && !testing::Test::HasFailure(); ++i) {
    PowerLossHistory history(seed + static_cast<std::uint64_t>(i) * power_loss_writers, durability);
    for (int round = 0; round < rounds_per_directory && !testing::Test::HasFailure(); ++round)
      history.run_round(losses);
  }
  std::cout << directories * rounds_per_directory << " power losses, " << losses.acknowledged
            << " acknowledged writes, " << losses.lost << " of them lost, in flight " << losses.in_flight_applied
            << " applied and " << losses.in_flight_not_applied << " not\n";
  return losses;
}

int directory_count() { return 2 * base::test_effort(); }

TEST(PowerLoss, SyncedWritesSurvive) {
  const Losses losses = run_power_losses(Durability::synced, directory_count());
  EXPECT_EQ(losses.lost, 0u);
  EXPECT_GT(losses.acknowledged, 0u);
  EXPECT_GT(losses.in_flight_not_applied, 0u);
}

// Directories must be synced too, from the first write on.
TEST(PowerLoss, SyncedWritesSurviveInANewDirectory) {
  base::TemporaryDirectory directory{memory_directory()};
  Options options;
  options.directory = directory.path() / "data";
  WorkloadWriter writer(0, 1);
  std::mt19937_64 random(1);
  {
    PowerLossEnv disk;
    auto engine = Engine::open(options, disk.env());
    ASSERT_TRUE(engine) << engine.error().message;
    create_workload_tables(**engine);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer.write_once(**engine));
    disk.cut_power();
    engine->reset();
    disk.lose_unsynced(random, UnsyncedTail::gone);
  }
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE((*engine)->describe_table("accounts"));
  EXPECT_TRUE(writer.matches(**engine, 10));
}

// Its files come one after the other, and some of them say that others must be there.
TEST(PowerLoss, WhileAStoreIsMadeLeavesOneThatCanBeOpened) {
  std::mt19937_64 random(first_seed());
  for (int operations = 0; operations < 60; ++operations) {
    base::TemporaryDirectory directory{memory_directory()};
    Options options;
    // It is there already: a start that fails takes back a directory that it made, which a machine without power
    // cannot.
    options.directory = directory.path();
    PowerLossEnv disk;
    disk.cut_power_after(operations);
    auto engine = Engine::open(options, disk.env());
    disk.cut_power();
    if (engine) engine->reset();
    disk.lose_unsynced(random, operations % 2 == 0 ? UnsyncedTail::gone : UnsyncedTail::torn);
    const auto again = Engine::open(options);
    EXPECT_TRUE(again) << operations << ": " << again.error().message;
  }
}

// Opens the store, lets it work, and takes its power away at a moment of chance.
void work_until_power_is_lost(const Options& options, std::mt19937_64& random) {
  PowerLossEnv disk;
  disk.cut_power_after(static_cast<std::int64_t>(random() % 60));
  auto engine = Engine::open(options, disk.env());
  if (engine)
    for (bool more = true; more;) more = (*engine)->run_maintenance_once().value_or(false);
  disk.cut_power();
  if (engine) engine->reset();
  disk.lose_unsynced(random, random() % 2 == 0 ? UnsyncedTail::gone : UnsyncedTail::torn);
}

// Everything in it is as it was when the restore was asked for, however often the power goes while it is filled.
class RestoreUnderPowerLoss {
 public:
  explicit RestoreUnderPowerLoss(std::uint64_t seed) : random_(seed) {
    options_.directory = directory_.path() / "data";
  }

  void run() {
    ask_for_restore();
    for (int opening = 0; !is_active(); ++opening) {
      ASSERT_LT(opening, 500);
      work_until_power_is_lost(options_, random_);
    }
    const auto engine = Engine::open(options_);
    ASSERT_TRUE(engine) << engine.error().message;
    EXPECT_EQ(scan_everything(**engine, "copy"), expected_);
    for (const std::string& fault : check_table(**engine, "copy")) ADD_FAILURE() << fault;
  }

 private:
  void ask_for_restore() {
    options_.background = false;
    options_.memtable_bytes = 128 << 10;
    const auto engine = Engine::open(options_).value();
    create_workload_tables(*engine);
    ASSERT_TRUE(engine->update_continuous_backups("ledger", {.enabled = true, .recovery_period_days = {}}));
    WorkloadWriter writer(0, random_());
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(writer.write_once(*engine));
    expected_ = scan_everything(*engine, "ledger");
    store::RestoreToPointInTimeRequest request;
    request.source_table_name = "ledger";
    request.target_table_name = "copy";
    request.use_latest_time = true;
    ASSERT_TRUE(engine->restore_table_to_point_in_time(request));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer.write_once(*engine));
  }
  bool is_active() {
    const auto engine = Engine::open(options_).value();
    return engine->describe_table("copy").value().status == store::TableStatus::active;
  }

  std::mt19937_64 random_;
  base::TemporaryDirectory directory_{memory_directory()};
  Options options_;
  std::vector<item::Item> expected_;
};

TEST(PowerLoss, ARestoredTableIsWholeOrBeingRestored) {
  const std::uint64_t seed = first_seed();
  std::cout << "POSTINO_SEED=" << seed << '\n';
  for (int i = 0; i < 3 * base::test_effort() && !testing::Test::HasFailure(); ++i)
    RestoreUnderPowerLoss(seed + static_cast<std::uint64_t>(i)).run();
}

// A backup that was answered is there with everything that was there then, however often the power goes while it is
// made. The store is whole in between.
class BackupUnderPowerLoss {
 public:
  explicit BackupUnderPowerLoss(std::uint64_t seed) : random_(seed) {
    options_.directory = directory_.path() / "data";
    options_.background = false;
    options_.memtable_bytes = 128 << 10;
  }

  void run() {
    ask_for_backup();
    for (int opening = 0; status() != store::BackupStatus::available; ++opening) {
      ASSERT_LT(opening, 500);
      work_until_power_is_lost(options_, random_);
    }
    const auto engine = Engine::open(options_).value();
    ASSERT_TRUE(engine->table_backups()->restore_table_from_backup({arn_, "copy", {}}));
    while (engine->run_maintenance_once().value()) {
    }
    EXPECT_EQ(scan_everything(*engine, "copy"), expected_);
    for (const std::string& fault : check_table(*engine, "copy")) ADD_FAILURE() << fault;
  }

 private:
  void ask_for_backup() {
    const auto engine = Engine::open(options_).value();
    create_workload_tables(*engine);
    WorkloadWriter writer(0, random_());
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(writer.write_once(*engine));
    expected_ = scan_everything(*engine, "ledger");
    arn_ = engine->table_backups()->create_backup("ledger", "backup").value().arn;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer.write_once(*engine));
  }
  store::BackupStatus status() {
    return Engine::open(options_).value()->table_backups()->describe_backup(arn_).value().backup.status;
  }

  std::mt19937_64 random_;
  base::TemporaryDirectory directory_{memory_directory()};
  Options options_;
  std::string arn_;
  std::vector<item::Item> expected_;
};

TEST(PowerLoss, ABackupIsWholeOrBeingMade) {
  const std::uint64_t seed = first_seed();
  std::cout << "POSTINO_SEED=" << seed << '\n';
  for (int i = 0; i < 3 * base::test_effort() && !testing::Test::HasFailure(); ++i)
    BackupUnderPowerLoss(seed + static_cast<std::uint64_t>(i)).run();
}

// Shows that the disk really loses what is not synced. What is left is still a whole past state.
TEST(PowerLoss, RelaxedWritesMayBeLostButNeverInPart) {
  const Losses losses = run_power_losses(Durability::relaxed, directory_count());
  EXPECT_GT(losses.lost, 0u);
  EXPECT_LT(losses.lost, losses.acknowledged);
}

}  // namespace
}  // namespace postino::engine
