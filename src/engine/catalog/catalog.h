// The catalog: which tables and streams there are. Readers see an immutable state; changing it replaces the state.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/catalog/backup.h"
#include "engine/catalog/stream.h"
#include "engine/catalog/table.h"
#include "engine/storage/commit_queue.h"
#include "engine/storage/database.h"

namespace postino::engine {

struct CatalogState {
  std::map<std::string, TablePointer, std::less<>> tables;
  std::map<ObjectId, StreamPointer> streams;
  std::map<std::string, BackupPointer, std::less<>> backups;  // by their ids
};
using CatalogStatePointer = std::shared_ptr<const CatalogState>;

class Catalog {
 public:
  static base::Result<std::unique_ptr<Catalog>> load(Database& database);

  // Any thread, without locks in the ordinary case.
  CatalogStatePointer state() const;
  TablePointer find(std::string_view table_name) const;  // nullptr when there is none

  // Is a table's transition due? Any thread.
  bool has_due_transitions(base::TimePoint now) const { return base::epoch_milliseconds(now) >= next_due_; }

  // Has any table or stream a policy? Any thread.
  bool has_policies() const { return has_policies_; }

  // Changing the catalog is for one thread at a time, which holds all key locks (KeyLocks::lock_all).
  void publish(CatalogState state);

  // A number for a new table, index or stream; the entry records that it is taken.
  ObjectId take_id(CommitEntry& entry);

  // Unique since the directory was made; larger at every opening. Sequence numbers start from it.
  std::uint64_t opening_number() const { return opening_number_; }

 private:
  Catalog();
  // The state in this thread's cache, which is up to date when this returns.
  const CatalogStatePointer& refreshed_state() const;

  const std::uint64_t identity_;  // tells catalogs apart in the threads' caches
  mutable std::mutex mutex_;
  CatalogStatePointer state_;
  std::atomic<std::uint64_t> version_ = 1;
  std::atomic<std::int64_t> next_due_;  // in milliseconds, of the first transition
  std::atomic<bool> has_policies_ = false;
  ObjectId next_id_ = 1;
  std::uint64_t opening_number_ = 0;
};

// What is being filled from this table or image, a table or the image of a backup; nullptr: nothing is.
TablePointer filled_from(const CatalogState& state, ObjectId source);
// Is it the image of a backup, which has the name of the table that it is of?
inline bool is_image_of(const Table& filled, const Table& source) { return filled.name == source.name; }

// The key, in the meta family, of how far a table that is being restored is filled, or an image.
std::string restored_key(ObjectId table);

// For those who change the catalog. Adds or replaces a table, in the state and its record;
void put_table(CatalogState& state, CommitEntry& entry, Table table);
// likewise a backup, or what it has, too.
void put_backup(CatalogState& state, CommitEntry& entry, Backup backup);
void remove_backup(CatalogState& state, CommitEntry& entry, const Backup& backup);
// These are about the stored records alone.
void remove_table(CommitEntry& entry, const Table& table);
// As if it were removed, but for its items and their counts, which become the image of a backup.
void remove_all_but_items(CommitEntry& entry, const Table& table);
void remove_index(CommitEntry& entry, const Index& index);
void put_stream(CommitEntry& entry, const Stream& stream);
void remove_stream(CommitEntry& entry, const Stream& stream);

}  // namespace postino::engine
