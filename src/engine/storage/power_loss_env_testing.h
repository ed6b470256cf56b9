// A disk for tests that can lose power and run into faults. It stands between RocksDB and the real file system and
// keeps a record of what was synced.
//
// The model: appended bytes survive once their file was synced; a new name of a file, by creating or renaming it,
// survives once its directory was synced; deleting is final at once. What was not synced may survive in part.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <random>

namespace postino::engine {

enum class UnsyncedTail {
  gone,  // of each file exactly the synced bytes are left
  torn,  // some or all of the unsynced bytes are left, in the log perhaps with a hole, or zeros or garbage behind them
};

enum class DiskFault {
  none,
  no_space,      // nothing more can be written
  no_table,      // there is room for logs, which are small, but not for a table
  append_fails,  // a hardware fault when writing
  sync_fails,    // and when syncing
};

// Safe to use from any thread, except lose_unsynced().
class PowerLossEnv {
 public:
  PowerLossEnv();
  ~PowerLossEnv();

  rocksdb::Env* env() { return env_.get(); }

  // From now on, or after so many more appends and syncs, everything fails.
  void cut_power();
  void cut_power_after(std::int64_t operations);
  void restore_power();
  bool has_power() const;

  // Leaves on the real disk what the power loss left. The database must be closed.
  void lose_unsynced(std::mt19937_64& random, UnsyncedTail tail);

  // Now, or after so many more appends and syncs.
  void set_fault(DiskFault fault);
  void set_fault_after(DiskFault fault, std::int64_t operations);

  // What the disk says it has left.
  void set_free_space(std::uint64_t bytes);

  // While it hangs, no write of a table comes back.
  void set_hanging(bool hangs);

 private:
  class State;
  class File;
  class Directory;
  class Files;
  class Clock;
  class Machine;

  std::shared_ptr<State> state_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace postino::engine
