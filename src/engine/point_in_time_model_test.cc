// Random writes to several tables, restored to random seconds and compared with what the test saw then.
#include <iostream>
#include <map>
#include <random>

#include "base/effort_testing.h"
#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

const std::vector<std::string> model_tables = {"one", "two", "three"};

using PastContents = std::map<std::string, std::string>;  // items as JSON by key

class RecoveryModelTest : public EngineTest {
 protected:
  RecoveryModelTest() {
    options_.restore_bytes = 2 << 10;
    reopen();
    for (const std::string& name : model_tables) {
      store::CreateTableRequest request = table(name, "pk:S", "sk:N");
      add_local_index(request, "local", "color:S");
      add_global_index(request, "all", "color:S", "sk:N");
      add_global_index(request, "some", "size:N", "", store::ProjectionType::include, {"color"});
      create(request);
      enable(name);
    }
  }

  void enable(const std::string& name) {
    ASSERT_TRUE(store().update_continuous_backups(name, {.enabled = true}));
    last_second_ = second_now();
    history_[name] = {{last_second_, latest_[name]}};
  }

  // That the next commit will be in: it never goes back.
  std::int64_t second_now() const {
    return std::max({last_second_, least_second_, base::epoch_seconds(clock_->now())});
  }
  void note(const std::string& name) {
    last_second_ = second_now();
    history_[name][last_second_] = latest_[name];
  }

  std::size_t pick(std::size_t count) { return random_() % count; }
  const std::string& some_table() { return model_tables[pick(model_tables.size())]; }
  item::Item some_key() {
    return json(R"({"pk":{"S":"p)" + std::to_string(pick(6)) + R"("},"sk":{"N":")" + std::to_string(pick(12)) + "\"}}");
  }
  item::Item some_item() {
    item::Item item = some_key();
    static const std::vector<std::string> colors = {"red", "green", "blue"};
    if (pick(4) > 0) item.set("color", colors[pick(3)]);
    if (pick(3) > 0) item.set("size", static_cast<std::int64_t>(pick(4)));
    item.set("stamp", static_cast<std::int64_t>(++stamp_));
    if (pick(8) == 0) item.set("long", std::string(pick(600), 'x'));
    return item;
  }
  static std::string key_of(const item::Item& item) {
    return item.find("pk")->as<std::string>() + "/" + item.find("sk")->as<item::Number>().to_string();
  }

  void put_some() {
    const std::string& name = some_table();
    const item::Item item = some_item();
    ASSERT_TRUE(store().put_item({.table_name = name, .item = item}));
    latest_[name][key_of(item)] = item::to_json(item);
    note(name);
  }
  void delete_some() {
    const std::string& name = some_table();
    const item::Item key = some_key();
    ASSERT_TRUE(store().delete_item({.table_name = name, .key = key}));
    if (latest_[name].erase(key_of(key)) > 0) note(name);
  }
  // Puts and deletions of several tables in one commit.
  void transact_some() {
    store::TransactWriteItemsRequest request;
    std::set<std::string> taken;
    std::set<std::string> changed;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::string& name = some_table();
      const item::Item item = some_item();
      if (!taken.insert(name + key_of(item)).second) continue;
      if (pick(3) == 0) {
        store::TransactDelete removal;
        removal.table_name = name;
        removal.key = {{"pk", *item.find("pk")}, {"sk", *item.find("sk")}};
        request.actions.emplace_back(std::move(removal));
        if (latest_[name].erase(key_of(item)) > 0) changed.insert(name);
      } else {
        store::TransactPut put;
        put.table_name = name;
        put.item = item;
        request.actions.emplace_back(std::move(put));
        latest_[name][key_of(item)] = item::to_json(item);
        changed.insert(name);
      }
    }
    ASSERT_EQ(outcome(store().transact_write_items(request)), "ok");
    for (const std::string& name : changed) note(name);
  }

  void move_clock() {
    if (pick(40) == 0)
      clock().set_by(-seconds(pick(30)));
    else
      clock().advance(milliseconds(pick(1'500)));
  }

  void step() {
    move_clock();
    switch (pick(30)) {
      case 0:
        return transact_some();
      case 1:
        reopen();
        least_second_ = 0;
        return;
      case 2:
        ASSERT_EQ(outcome(engine().run_maintenance_once()), "ok");
        return;
      case 3:
        if (pick(20) > 0) return put_some();
        {
          const std::string& name = some_table();
          ASSERT_TRUE(store().update_continuous_backups(name, {.enabled = false}));
          enable(name);
        }
        return;
      default:
        return pick(3) == 0 ? delete_some() : put_some();
    }
  }

  const PastContents& expected(const std::string& name, std::int64_t second) {
    auto found = history_[name].upper_bound(second);
    return std::prev(found)->second;
  }

  bool is_restoring() { return store().describe_table("restored")->status != store::TableStatus::active; }

  void restore_some() {
    const std::string& name = some_table();
    const auto window = store().describe_continuous_backups(name).value();
    const std::int64_t earliest = base::epoch_seconds(*window.earliest_restorable);
    const std::int64_t latest = base::epoch_seconds(*window.latest_restorable);
    ASSERT_EQ(earliest, history_[name].begin()->first);
    ASSERT_EQ(latest, std::max(last_second_, base::epoch_seconds(clock().now())));
    const std::int64_t second =
        pick(4) == 0 ? latest : earliest + static_cast<std::int64_t>(pick(latest - earliest + 1));
    const PastContents before = expected(name, second);
    store::RestoreToPointInTimeRequest request;
    request.source_table_name = name;
    request.target_table_name = "restored";
    request.time = base::TimePoint(seconds(second));
    ASSERT_EQ(outcome(store().restore_table_to_point_in_time(request)), "ok");
    least_second_ = std::max(least_second_, second + 1);
    // Work goes on meanwhile, and the store may be closed at any time.
    do {
      put_some();
      if (pick(3) == 0) {
        least_second_ = is_restoring() ? second + 1 : 0;
        reopen();
      }
      ASSERT_EQ(outcome(engine().run_maintenance_once()), "ok");
    } while (is_restoring());
    PastContents found;
    for (const item::Item& item : scan_everything(store(), "restored")) found[key_of(item)] = item::to_json(item);
    EXPECT_EQ(found, before) << name << " at " << second;
    EXPECT_THAT(check_table(store(), "restored"), IsEmpty());
    ASSERT_TRUE(store().delete_table("restored"));
  }

  const std::uint64_t seed_ = std::random_device()();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
  std::int64_t stamp_ = 0;
  std::int64_t last_second_ = 0;
  std::int64_t least_second_ = 0;
  std::map<std::string, PastContents> latest_;
  std::map<std::string, std::map<std::int64_t, PastContents>> history_;  // at the end of each second with a commit
};

TEST_F(RecoveryModelTest, EverySecondCanBeRestoredAsItWas) {
  std::cout << "seed " << seed_ << '\n';
  for (int round = 0; round < 30 * base::test_effort() && !HasFailure(); ++round) {
    for (int i = 0; i < 60 && !HasFailure(); ++i) step();
    restore_some();
  }
}

}  // namespace
}  // namespace postino::engine
