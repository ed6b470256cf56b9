// How an embedded store is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "item/value.h"
#include "store/traffic.h"

namespace postino::engine {

enum class Durability {
  synced,   // a write is answered when it is on disk
  relaxed,  // a write is answered when the operating system has it: survives a crash of the process, not of the machine
};

// May this item of the table be deleted, now that its time to live has passed? Asked by the maintenance thread, with
// the item's key locked: it may read the store, and must not write to it. What it keeps, it is asked about again after
// an hour at the latest.
using ExpiryGuard = std::function<bool(const std::string& table_name, const item::Item& item)>;

struct Options {
  std::filesystem::path directory;  // created when missing; its parent must exist
  Durability durability = Durability::synced;

  // Shown in ARNs.
  std::string region = "us-east-1";
  std::string account = "000000000000";

  // Expiry, stream trimming and index backfill run on threads of their own. A test with a manual clock turns them off
  // and calls Engine::run_maintenance_once().
  bool background = true;
  base::Milliseconds maintenance_interval = std::chrono::seconds(1);

  // Nothing expires before Engine::guard_expiry() has been called.
  bool expiry_needs_guard = false;

  std::size_t block_cache_bytes = 64 << 20;    // of what was read from disk, and of memtables
  std::size_t memtable_bytes = 32 << 20;       // of each column family, before it is written out
  std::size_t all_memtables_bytes = 48 << 20;  // of all of them together, before the oldest is written out

  // Writes that wait for the disk; past either limit new ones are refused with RequestLimitExceeded.
  std::size_t max_waiting_writes = 16'384;
  std::size_t max_waiting_bytes = 256 << 20;

  // Writes are refused while the file system has less room than this: what is in memory must still fit.
  std::uint64_t min_free_bytes = 64 << 20;

  // Opening reads the newest table files, up to so many bytes, and refuses a store with a damaged block. Damage in the
  // rest is found when it is read. Every start waits for this, about a millisecond for a megabyte.
  std::uint64_t verified_at_start_bytes = 48 << 20;

  // What items with one partition key, and their entries in local indexes, may take together in a table that has such
  // indexes.
  std::int64_t max_item_collection_bytes = std::int64_t{10} << 30;

  // Tables and backups that are deleted can be restored so long; tables with point-in-time recovery at least 35 days.
  base::Milliseconds deletion_delay{0};

  // What a restore keeps in memory of what its table was. If more was changed since, it reads the changes several
  // times.
  std::size_t restore_bytes = 128 << 20;

  // Hold requests to the provisioned throughput of tables and indexes, and to the ceilings of on-demand tables.
  bool enforce_throughput = false;

  // Take as long as AWS (or nearly) to create, change and delete tables, and show the states in between. Otherwise all
  // of it is done when the call returns.
  bool realistic_timing = false;

  // Is told of all traffic, and of what filling a new index takes; not of expiry, which costs nothing on DynamoDB.
  // nullptr: there is no watch.
  std::shared_ptr<store::TrafficObserver> traffic;

  std::shared_ptr<base::Clock> clock = std::make_shared<base::SystemClock>();
  std::shared_ptr<base::Random> random = std::make_shared<base::SystemRandom>();
};

}  // namespace postino::engine
