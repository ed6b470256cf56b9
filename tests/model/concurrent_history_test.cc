// Threads run random transactions and single writes on a few keys and write down what they saw. Afterwards there must
// be an order of all of them, in agreement with time, in which each saw what the ones before it left: strict
// serializability.
#include <array>

#include "concurrent_store.h"
#include "contents_check.h"
#include "history.h"
#include "request_text.h"
#include "stream_check.h"

namespace postino::model {
namespace {

constexpr int history_threads = 8;
constexpr int keys = 6;

TEST(HistoryTest, AcceptsWhatCanHaveHappened) {
  EXPECT_EQ(fault_of_history({{"a", 1, 2, {}, {{"x", 1}}}, {"b", 3, 4, {{"x", 1}}, {{"y", 1}}}}), "");
  EXPECT_EQ(fault_of_history({{"a", 1, 4, {{"x", 0}}, {{"x", 1}}}, {"b", 2, 3, {{"x", 0}}, {}}}), "");
}

TEST(HistoryTest, RefusesWhatCannotHaveHappened) {
  // Each saw what the other had not written yet.
  EXPECT_NE(fault_of_history({{"a", 1, 4, {{"y", 0}}, {{"x", 1}}}, {"b", 2, 3, {{"x", 0}}, {{"y", 1}}}}), "");
  // It began after the write had ended and did not see it.
  EXPECT_NE(fault_of_history({{"a", 1, 2, {}, {{"x", 1}}}, {"b", 3, 4, {{"x", 0}}, {}}}), "");
  // A reader saw half of a transaction.
  EXPECT_NE(fault_of_history({{"a", 1, 9, {}, {{"x", 1}, {"y", 1}}}, {"b", 2, 8, {{"x", 1}, {"y", 0}}, {}}}), "");
  EXPECT_NE(fault_of_history({{"a", 1, 2, {}, {{"x", 1}}}, {"b", 3, 4, {}, {{"x", 1}}}}), "");
  EXPECT_NE(fault_of_history({{"a", 1, 2, {{"x", 7}}, {}}}), "");
}

class ConcurrentHistoryTest : public ConcurrentStore {
 protected:
  ConcurrentHistoryTest() {
    for (const char* name : {"left", "right"}) {
      ModelTable table = plain_table(name);
      table.types["writer"] = item::Type::string;
      table.types["version"] = item::Type::number;
      table.indexes = {plain_index("by_version", "version", "writer")};
      create(table);
    }
  }

  // A key stands for an item of one of the tables: left/0, right/1, left/2 ...
  static std::string table_of(int key) { return key % 2 == 0 ? "left" : "right"; }
  static std::string name_of(int key) { return table_of(key) + "/" + std::to_string(key); }
  static item::Key item_key(int key) { return {{"pk", name_of(key)}}; }

  static std::int64_t version_of(const std::optional<item::Item>& item) {
    return item ? *item->find("version")->as<item::Number>().to_int64() : 0;
  }

  static std::vector<int> some_keys(Choice& choice) {
    std::vector<int> chosen;
    const int first = choice.between(0, keys - 1);
    for (int i = 0, count = choice.between(1, 3); i < count; ++i) chosen.push_back((first + i) % keys);
    return chosen;
  }

  Transaction read(const std::vector<int>& chosen, const std::string& id) {
    store::TransactGetItemsRequest request;
    for (const int key : chosen) {
      store::TransactGet& get = request.gets.emplace_back();
      get.table_name = table_of(key);
      get.key = item_key(key);
    }
    Transaction transaction{id, tick(), 0, {}, {}};
    const auto answer = store().transact_get_items(request);
    transaction.end = tick();
    EXPECT_TRUE(answer) << text_of(answer.error());
    if (answer)
      for (std::size_t i = 0; i < chosen.size(); ++i)
        transaction.reads[name_of(chosen[i])] = version_of(answer->items[i]);
    return transaction;
  }

  template <class Action>
  static void require_version(Action& action, std::int64_t version) {
    if (version == 0) {
      action.condition = "attribute_not_exists(pk)";
    } else {
      action.condition = "version = :version";
      action.placeholders.values = item::Map{{":version", version}};
    }
  }

  // Writes on the ground of what was read; nothing when another thread was faster.
  std::optional<Transaction> write(const std::vector<int>& chosen, const Transaction& read_before,
                                   const std::string& id, Choice& choice) {
    store::TransactWriteItemsRequest request;
    Transaction transaction{id, 0, 0, {}, {}};
    for (const int key : chosen) {
      const std::int64_t version = read_before.reads.at(name_of(key));
      transaction.reads[name_of(key)] = version;
      if (choice.one_in(4)) {
        store::TransactConditionCheck check;
        check.table_name = table_of(key);
        check.key = item_key(key);
        require_version(check, version);
        request.actions.emplace_back(std::move(check));
        continue;
      }
      store::TransactPut put;
      put.table_name = table_of(key);
      put.item = {{"pk", name_of(key)}, {"version", version + 1}, {"writer", id}};
      require_version(put, version);
      request.actions.emplace_back(std::move(put));
      transaction.writes[name_of(key)] = version + 1;
    }
    transaction.begin = tick();
    const auto answer = send(store(), choice, request);
    transaction.end = tick();
    if (answer) return transaction;
    EXPECT_EQ(answer.error().type, store::ErrorType::transaction_canceled) << text_of(answer.error());
    return std::nullopt;
  }

  Transaction increment(int key, const std::string& id, Choice& choice) {
    store::UpdateItemRequest request;
    request.table_name = table_of(key);
    request.key = item_key(key);
    request.update = "SET writer = :id ADD version :one";
    request.placeholders.values = item::Map{{":id", id}, {":one", 1}};
    request.return_values = store::ReturnValues::all_new;
    Transaction transaction{id, tick(), 0, {}, {}};
    const auto answer = send(store(), choice, request);
    transaction.end = tick();
    EXPECT_TRUE(answer) << text_of(answer.error());
    if (answer) {
      transaction.writes[name_of(key)] = version_of(answer->attributes);
      transaction.reads[name_of(key)] = version_of(answer->attributes) - 1;
    }
    return transaction;
  }

  void work(int operations, const std::string& prefix, std::vector<Transaction>& history, Choice& choice) {
    for (int i = 0; i < operations && !HasFailure(); ++i) {
      const std::string id = prefix + "-" + std::to_string(i);
      if (choice.one_in(3)) {
        history.push_back(increment(choice.between(0, keys - 1), id, choice));
        continue;
      }
      const std::vector<int> chosen = some_keys(choice);
      history.push_back(read(chosen, id + "-read"));
      if (auto written = write(chosen, history.back(), id, choice)) history.push_back(std::move(*written));
    }
  }

  // The stream shows for every key all versions in their order, each by the one who wrote it.
  void check_stream_of_versions(const std::string& table, const std::vector<Transaction>& history) {
    std::map<std::pair<std::string, std::int64_t>, std::string> writers;
    for (const Transaction& transaction : history)
      for (const auto& [key, version] : transaction.writes) writers[{key, version}] = transaction.id;
    const auto described = store().describe_table(table);
    ASSERT_TRUE(described);
    const auto records = read_stream(store(), *described->latest_stream_arn);
    ASSERT_TRUE(records) << text_of(records.error());
    std::map<std::string, std::int64_t> versions;
    for (const store::StreamRecord& record : *records) {
      const std::string key = record.keys.find("pk")->as<std::string>();
      const std::int64_t version = version_of(record.new_image);
      ASSERT_EQ(version, ++versions[key]) << text_of(record);
      ASSERT_EQ(record.new_image->find("writer")->as<std::string>(), (writers[{key, version}])) << text_of(record);
    }
    std::size_t written = 0;
    for (const auto& [version, writer] : writers)
      if (version.first.starts_with(table)) ++written;
    EXPECT_EQ(records->size(), written);
  }
};

TEST_P(ConcurrentHistoryTest, IsStrictlySerializable) {
  const int operations = scaled(GetParam().durability == engine::Durability::synced ? 200 : 800);
  std::array<std::vector<Transaction>, history_threads> histories;
  run(history_threads, [&](int thread, Choice& choice) {
    work(operations, std::to_string(thread), histories[static_cast<std::size_t>(thread)], choice);
  });
  std::vector<Transaction> history;
  for (const auto& part : histories) history.insert(history.end(), part.begin(), part.end());
  EXPECT_EQ(fault_of_history(history), "");
  for (const char* table : {"left", "right"}) check_stream_of_versions(table, history);
  check_contents();
}

INSTANTIATE_TEST_SUITE_P(Busy, ConcurrentHistoryTest,
                         testing::Values(Business{"Plain"}, Business{"Maintained", true},
                                         Business{"NewIndexes", true, true},
                                         Business{"Synced", false, false, engine::Durability::synced}),
                         [](const auto& business) { return business.param.name; });

}  // namespace
}  // namespace postino::model
