// A core with tables in it, used through the engine's own parts: for tests of what happens below the Store.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/core_testing.h"
#include "engine/items/locked_items.h"
#include "store/stream.h"

namespace postino::engine {

// The error's name and message; "ok" when there is none.
template <class Answer>
std::string outcome_of(const Answer& answer) {
  if (answer) return "ok";
  return std::string(store::error_name(answer.error().type)) + ": " + answer.error().message;
}

class CoreTablesTest : public CoreTest {
 protected:
  // Tables have the string hash key pk.
  void create_table(const std::string& name, std::optional<store::StreamViewType> stream = std::nullopt);
  void delete_table(const std::string& name);
  void enable_stream(const std::string& table_name, store::StreamViewType view);
  void disable_stream(const std::string& table_name);
  // Over a string attribute, projecting everything.
  void create_index(const std::string& table_name, const std::string& index_name, const std::string& attribute);
  void enable_time_to_live(const std::string& table_name, const std::string& attribute);

  // Items and keys as DynamoDB's JSON.
  void put(const std::string& table_name, std::string_view item);
  void remove(const std::string& table_name, const std::string& pk);
  std::string get(const std::string& table_name, const std::string& pk);  // "" when there is none

  // A put (or a delete, without the item) that is planned and queued but not yet on disk. Commits when waited for.
  std::shared_ptr<CommitEntry> queue_put(const std::string& table_name, std::string_view item);
  std::shared_ptr<CommitEntry> queue_delete(const std::string& table_name, const std::string& pk);

  TablePointer table(const std::string& name) { return core().catalog->find(name); }
  const Index& index(const std::string& table_name, const std::string& index_name);
  StreamPointer stream_of(const std::string& table_name);  // the newest, enabled or not
  std::string stream_arn(const std::string& table_name) { return core().stream_arn(*stream_of(table_name)); }

  // The keys of a family that belong to a table, index or stream.
  std::vector<std::string> stored_keys(Family family, ObjectId id);
  // What must be in the index, by the items of the table, and what is.
  std::set<std::string> expected_index_keys(const std::string& table_name, const std::string& index_name);
  std::set<std::string> actual_index_keys(const std::string& table_name, const std::string& index_name);
  void expect_index_exact(const std::string& table_name, const std::string& index_name);

 private:
  std::shared_ptr<CommitEntry> queue_change(const Table& table, const std::string& key, StoredItemPointer after);
};

}  // namespace postino::engine
