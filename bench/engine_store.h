// The engine, with a table of mails, as a contestant.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "rounds.h"

namespace postino::bench {

enum class Shape {
  plain,              // by Id
  conversations,      // by Conversation and Id
  indexed,            // by Id, two indexes with all attributes, a stream with both images
  indexed_keys_only,  // the same with nothing but keys in indexes and stream
};

class EngineStore {
 public:
  // `traffic` is told of what it does; nullptr: no observer.
  EngineStore(std::filesystem::path directory, Shape shape, std::shared_ptr<store::TrafficObserver> traffic = nullptr);

  // Fills the store with mails [0, count), in batches from a few threads.
  void load(std::uint64_t count);
  // What was in memory is in files afterwards, as it is after any restart.
  void reopen();

  void enable_recovery();
  // Restores the table as it is now into a new one, and returns when that is there.
  void restore();

  // Factories of operations, each for one thread. Writes are synced.
  Operation inserting();
  Starter inserting_with_callbacks();
  Operation inserting_batches(int size);
  Operation inserting_transactions(int size);
  // Replaces one of the first `count` mails, with other index keys.
  Operation replacing(std::uint64_t count);
  Operation updating_conditionally(std::uint64_t count);
  Operation getting(std::uint64_t count);
  Operation querying(std::uint64_t conversations);

 private:
  std::filesystem::path directory_;
  std::shared_ptr<store::TrafficObserver> traffic_;
  std::unique_ptr<engine::Engine> engine_;
  std::atomic<std::uint64_t> next_ = 0;
};

}  // namespace postino::bench
