// A table with large items: on a store of a test's own, with objects in memory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "objects/large_item_store.h"
#include "objects/memory_objects_testing.h"
#include "objects/object_cleaner.h"

namespace postino::objects {

inline const std::string tickets_table = "tickets";

class LargeItemEnvironment : public engine::EmbeddedStore {
 public:
  LargeItemEnvironment() : LargeItemEnvironment(std::make_shared<base::ManualClock>(engine::embedded_start)) {}

  base::ManualClock& time() { return *time_; }
  MemoryObjects& objects() { return objects_; }
  // What services use.
  LargeItemStore& large() { return *large_; }
  LargeItemStore make_large(store::Store& inner) { return {inner, objects_, {table_}, clock(), random(), {}}; }
  const KeyedTable& table() const { return table_.keyed; }
  ObjectCleaner make_cleaner(CleanerOptions options = {}) {
    return {engine(), objects_, table_.keyed, {large_items_kind()}, clock(), options};
  }

  // The item through a store; the test fails when the store does.
  static std::optional<item::Item> get(store::Store& from, const item::Key& key);
  std::optional<item::Item> get(const item::Key& key) { return get(large(), key); }
  // As it is in the table.
  std::optional<item::Item> raw(const item::Key& key) { return get(engine(), key); }
  // Objects that items of the table refer to, and all that there are.
  std::set<std::string> referred();
  std::set<std::string> kept() const { return objects_.names(object_prefix(large_items_kind(), table_.keyed)); }

 private:
  explicit LargeItemEnvironment(std::shared_ptr<base::ManualClock> time);

  const std::shared_ptr<base::ManualClock> time_;
  MemoryObjects objects_;
  LargeItemTable table_;
  std::unique_ptr<LargeItemStore> large_;
};

inline item::Key ticket_key(const std::string& id) { return {{"PK", "TICKET#" + id}, {"SK", "METADATA"}}; }

// Of about half a megabyte, in two large attributes; everything in it says which version it is.
item::Item large_ticket(const std::string& id, int version);
item::Item small_ticket(const std::string& id, int version);

store::PutItemRequest put_of(item::Item item);
store::UpdateItemRequest update_of(const item::Key& key, const std::string& update, item::Map values = {});

template <class T>
testing::AssertionResult succeeded(const store::Answer<T>& answer) {
  if (answer) return testing::AssertionSuccess();
  return testing::AssertionFailure() << store::error_name(answer.error().type) << ": " << answer.error().message;
}

// "" when there was none.
template <class T>
std::string fault_of(const store::Answer<T>& answer) {
  return answer ? "" : std::string(store::error_name(answer.error().type)) + ": " + answer.error().message;
}

}  // namespace postino::objects
