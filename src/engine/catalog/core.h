// What the parts of the engine share.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/storage/commit_queue.h"
#include "engine/storage/database.h"
#include "engine/storage/key_locks.h"
#include "engine/storage/options.h"
#include "store/error.h"

namespace postino::engine {

struct Core {
  Options options;
  std::unique_ptr<Database> database;
  std::unique_ptr<Catalog> catalog;
  KeyLocks locks;
  std::unique_ptr<CommitQueue> queue;  // declared after what it uses: it is the first to go

  // Changes of the catalog, one at a time. Taken before any key lock.
  std::mutex control_mutex;

  // Called after a change that gives maintenance something to do, from any thread. Set before there are other threads;
  // empty when the store has no maintenance thread.
  std::function<void()> wake_maintenance;

  base::TimePoint now() const { return options.clock->now(); }

  // The table of a request for items: nullptr when there is none, or it is not there yet or no longer.
  TablePointer find_table(std::string_view table_name) const {
    TablePointer table = catalog->find(table_name);
    if (table && !table->serves_items()) [[unlikely]]
      table.reset();
    return table;
  }

  // The item as the last planned write leaves it. The key's lock is held.
  // `depends_on_pending` is set when that write is not on disk yet.
  base::Result<StoredItemPointer> read_latest(const std::string& stored_key, bool& depends_on_pending) const;

  // Changes the catalog: `change` gets a copy of the state and an entry for the disk, and runs while no write is being
  // planned. Published and committed when it succeeds; nothing happens when it fails. The caller holds control_mutex.
  store::Answer<void> change_catalog(const std::function<store::Answer<void>(CatalogState&, CommitEntry&)>& change);

  std::string table_arn(std::string_view table_name) const;
  std::string index_arn(std::string_view table_name, std::string_view index_name) const;
  std::string stream_arn(const Stream& stream) const;
  std::string backup_arn(std::string_view table_name, std::string_view backup_id) const;
};

// Opens the data directory. `env` (not owned; nullptr for the real one) lets a test stand between us and the disk.
base::Result<std::unique_ptr<Core>> open_core(Options options, rocksdb::Env* env);

// DynamoDB's two wordings for a table that is not there.
store::Error no_such_table();                             // data plane
store::Error no_such_table(std::string_view table_name);  // control plane

}  // namespace postino::engine
