// RocksDB by itself, opened with the engine's own settings: what the engine is measured against.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "engine/storage/database.h"
#include "rounds.h"

namespace postino::bench {

// A mail as the engine would store it, ready to be written.
class RawMail {
 public:
  RawMail();
  // The same bytes at the same places as in the engine's, except for those few that make no difference to RocksDB.
  void become(std::uint64_t number);
  const std::string& key() const { return key_; }
  const std::string& value() const { return value_; }

 private:
  std::string key_;
  std::string value_;
  std::size_t body_ = 0;  // where the body begins in the value
};

std::string raw_key(std::uint64_t number);
// Mails of one conversation lie side by side, in no order of their own.
std::string raw_conversation_prefix(std::uint64_t conversation);

class RawStore {
 public:
  explicit RawStore(std::filesystem::path directory);

  // Fills the store with mails [0, count), in synced batches from a few threads.
  void load(std::uint64_t count);
  // The same with the mails of a conversation side by side.
  void load_conversations(std::uint64_t count);
  // What was in memory is in files afterwards, as it is after any restart.
  void reopen();

  // Factories of operations, each for one thread. Writes are synced.
  Operation inserting();
  Operation inserting_batches(int size);
  Operation replacing(std::uint64_t count);
  Operation reading_and_replacing(std::uint64_t count);
  Operation getting(std::uint64_t count);
  // Reads a whole conversation.
  Operation scanning(std::uint64_t conversations);

 private:
  rocksdb::DB& rocks() { return database_->rocks(); }
  rocksdb::ColumnFamilyHandle* items() { return database_->handle(engine::Family::items); }

  std::filesystem::path directory_;
  std::unique_ptr<engine::Database> database_;
  std::atomic<std::uint64_t> next_ = 0;
};

}  // namespace postino::bench
