// A store with many threads on it, in the ways that a store can be busy besides.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/temporary_directory.h"
#include "choice.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
#include "model_table.h"

namespace postino::model {

struct Business {
  std::string name;
  bool background = false;   // the store's own maintenance thread runs
  bool new_indexes = false;  // an index is added, filled and removed over and over
  engine::Durability durability = engine::Durability::relaxed;
};

class ConcurrentStore : public testing::TestWithParam<Business> {
 protected:
  ConcurrentStore();
  ~ConcurrentStore() override;

  engine::Engine& store() { return *engine_; }

  // Creates the table with a stream of both images.
  void create(ModelTable& table);
  // Puts an item; it must succeed.
  void put(const std::string& table, const item::Item& item);
  // Nothing when there is no such item.
  std::optional<item::Item> get(const std::string& table, const item::Key& key);

  // Runs the function on so many threads at once, each with its number and its own random decisions. Meanwhile
  // indexes come and go on the first table, if the business is so.
  void run(int threads, const std::function<void(int, Choice&)>& work);

  // Closes the store and opens it again.
  void reopen();

  // Moves only when told: no item may expire while items and indexes are compared.
  const std::shared_ptr<base::ManualClock>& clock() const { return clock_; }

  // A moment between all earlier and all later ones, on every thread.
  std::int64_t tick() { return ++ticks_; }

  // Indexes, counts and streams of all tables follow from the items, before and after the store is opened again.
  void check_contents();

  // How many of the given operations there is time for.
  static int scaled(int operations);

 private:
  void change_indexes(const std::atomic<bool>& stop);
  void finish_maintenance();
  void check_all(const std::string& when);

  base::TemporaryDirectory directory_{engine::memory_directory()};
  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(base::SystemClock().now());
  std::unique_ptr<engine::Engine> engine_;
  std::vector<ModelTable> tables_;
  std::atomic<std::int64_t> ticks_ = 0;
};

// A table with the string hash key pk.
ModelTable plain_table(const std::string& name);
ModelIndex plain_index(const std::string& name, const std::string& hash, const std::string& range);

// Sends a write and waits, or is told: both forms, chosen at random.
store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice,
                                             const store::UpdateItemRequest& request);
store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice, const store::PutItemRequest& request);
store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice,
                                             const store::DeleteItemRequest& request);
store::Answer<store::BatchWriteItemResponse> send(store::Store& store, Choice& choice,
                                                  const store::BatchWriteItemRequest& request);
store::Answer<store::TransactWriteItemsResponse> send(store::Store& store, Choice& choice,
                                                      const store::TransactWriteItemsRequest& request);

}  // namespace postino::model
