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
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string stock_table_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/stock";

class TableTransfersTest : public EngineTest {
 protected:
  store::TableTransfers& transfers() { return *store().table_transfers(); }
  store::CreateTableRequest stock() {
    store::CreateTableRequest request = table("stock", "pk:S");
    add_global_index(request, "kinds", "kind:S", "pk:S");
    return request;
  }
  static item::Item thing(const std::string& pk, const std::string& kind) { return {{"pk", pk}, {"kind", kind}}; }
  std::map<std::string, std::string> items_of(store::ItemReader& reader) {
    std::map<std::string, std::string> found;
    while (true) {
      const auto portion = reader.next();
      EXPECT_EQ(outcome(portion), "ok");
      if (!portion) return found;
      for (const item::Item& item : portion->items) found[item.find("pk")->as<std::string>()] = item::to_json(item);
      if (portion->is_last) return found;
    }
  }
};

TEST_F(TableTransfersTest, AnImportedTableIsNotThereBeforeItIsWhole) {
  ASSERT_EQ(outcome(transfers().begin_import(stock(), {"import/1", "begun"})), "ok");
  EXPECT_EQ(store().describe_table("stock")->status, store::TableStatus::creating);
  EXPECT_EQ(outcome(store().put_item({.table_name = "stock", .item = thing("a", "x")})),
            "ResourceNotFoundException: Requested resource not found");
  const auto put = transfers().import_items(
      "stock", {thing("a", "first"), thing("b", "x"), {{"kind", "y"}}, thing("a", "last"), {{"pk", 7}}});
  ASSERT_EQ(outcome(put), "ok");
  EXPECT_EQ(put->count, 3U);
  EXPECT_EQ(put->refusals.size(), 2U);
  reopen();
  EXPECT_EQ(transfers().records()->front().text, "begun");
  ASSERT_EQ(outcome(transfers().import_items("stock", {thing("b", "again")})), "ok");
  EXPECT_EQ(
      outcome(store().delete_table("stock")),
      "ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: stock");
  ASSERT_EQ(outcome(transfers().end_import("stock", true, {"import/1", "ended"})), "ok");
  reopen();
  EXPECT_EQ(store().describe_table("stock")->status, store::TableStatus::active);
  EXPECT_EQ(get("stock", R"({"pk":{"S":"a"}})"), R"({"kind":{"S":"last"},"pk":{"S":"a"}})");
  EXPECT_EQ(get("stock", R"({"pk":{"S":"b"}})"), R"({"kind":{"S":"again"},"pk":{"S":"b"}})");
  EXPECT_THAT(check_table(store(), "stock"), IsEmpty());
  EXPECT_EQ(transfers().records()->front().text, "ended");
  EXPECT_EQ(outcome(transfers().import_items("stock", {thing("c", "late")})),
            "ResourceNotFoundException: Requested resource not found: Table: stock not found");
}

TEST_F(TableTransfersTest, AnImportThatCameToNothingLeavesNoTable) {
  ASSERT_EQ(outcome(transfers().begin_import(stock(), {"import/1", "begun"})), "ok");
  EXPECT_EQ(
      outcome(transfers().begin_import(stock(), {"import/2", "begun"})),
      "ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: stock");
  ASSERT_EQ(outcome(transfers().import_items("stock", {thing("a", "x")})), "ok");
  ASSERT_EQ(outcome(transfers().end_import("stock", false, {"import/1", "failed"})), "ok");
  EXPECT_FALSE(store().describe_table("stock"));
  EXPECT_EQ(transfers().records()->size(), 1U);
  ASSERT_EQ(outcome(transfers().remove_record("import/1")), "ok");
  EXPECT_THAT(transfers().records().value(), IsEmpty());
}

TEST_F(TableTransfersTest, RulesOfWhatIsExported) {
  EXPECT_EQ(outcome(transfers().past_table(stock_table_arn, std::nullopt)),
            "TableNotFoundException: Table not found: stock");
  create(stock());
  EXPECT_EQ(outcome(transfers().past_table(stock_table_arn, std::nullopt)),
            "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'stock'");
  ASSERT_TRUE(store().update_continuous_backups("stock", {.enabled = true}));
  EXPECT_EQ(outcome(transfers().past_table(stock_table_arn, engine_test_start - seconds(1))),
            "InvalidExportTimeException: Invalid Request: the time of an export must be between "
            "EarliestRestorableDateTime 2026-01-02T03:04:05.000Z and LatestRestorableDateTime "
            "2026-01-02T03:04:05.000Z");
  const store::PastTable past = transfers().past_table(stock_table_arn, std::nullopt).value();
  EXPECT_EQ(past.time, engine_test_start);
  EXPECT_THAT(past.key_attributes, ElementsAre("pk"));
  EXPECT_EQ(past.id, store().describe_table("stock")->id);
  // Another table of the same name is not what was asked for.
  ASSERT_TRUE(store().delete_table("stock"));
  create(stock());
  ASSERT_TRUE(store().update_continuous_backups("stock", {.enabled = true}));
  EXPECT_EQ(outcome(transfers().read_items(past)), "TableNotFoundException: Table not found: stock");
}

TEST_F(TableTransfersTest, ReadersSeeWhatWasThen) {
  create(stock());
  ASSERT_TRUE(store().update_continuous_backups("stock", {.enabled = true}));
  ASSERT_TRUE(store().put_item({.table_name = "stock", .item = thing("a", "old")}));
  ASSERT_TRUE(store().put_item({.table_name = "stock", .item = thing("b", "old")}));
  const store::PastTable past = transfers().past_table(stock_table_arn, std::nullopt).value();
  const auto reader = transfers().read_items(past).value();
  ASSERT_TRUE(store().put_item({.table_name = "stock", .item = thing("a", "new")}));
  ASSERT_TRUE(store().put_item({.table_name = "stock", .item = thing("c", "new")}));
  const std::map<std::string, std::string> then = {{"a", R"({"kind":{"S":"old"},"pk":{"S":"a"}})"},
                                                   {"b", R"({"kind":{"S":"old"},"pk":{"S":"b"}})"}};
  EXPECT_EQ(items_of(*reader), then);
  clock().advance(minutes(1));
  EXPECT_EQ(items_of(*transfers().read_items(past).value()), then);
}

// Random writes; what became of each item between two random seconds is compared with what the test saw.
class PastChangesModelTest : public TableTransfersTest {
 protected:
  using Contents = std::map<std::string, std::string>;

  PastChangesModelTest() {
    options_.restore_bytes = 2 << 10;
    reopen();
    create(stock());
    EXPECT_TRUE(store().update_continuous_backups("stock", {.enabled = true}));
    history_[second()] = {};
  }

  std::size_t pick(std::size_t count) { return random_() % count; }
  std::int64_t second() const { return base::epoch_seconds(clock_->now()); }
  void write_some() {
    const std::string pk = "p" + std::to_string(pick(40));
    if (pick(4) == 0) {
      ASSERT_TRUE(store().delete_item({.table_name = "stock", .key = {{"pk", pk}}}));
      latest_.erase(pk);
    } else {
      item::Item item = thing(pk, "k" + std::to_string(pick(1'000'000)));
      if (pick(5) == 0) item.set("long", std::string(pick(700), 'x'));
      ASSERT_TRUE(store().put_item({.table_name = "stock", .item = item}));
      latest_[pk] = item::to_json(item);
    }
    written_.emplace(second(), pk);
    history_[second()] = latest_;
  }
  // What was there before the first commit of that second.
  Contents before(std::int64_t at) {
    const auto found = history_.lower_bound(at);
    return found == history_.begin() ? Contents() : std::prev(found)->second;
  }
  static std::string text_of(const Contents& contents, const std::string& pk) {
    const auto found = contents.find(pk);
    return found == contents.end() ? "nothing" : found->second;
  }

  const std::uint64_t seed_ = std::random_device()();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
  Contents latest_;
  std::map<std::int64_t, Contents> history_;          // at the end of each second with a write
  std::multimap<std::int64_t, std::string> written_;  // keys, by second
};

TEST_F(PastChangesModelTest, EveryPeriodHasWhatBecameOfItems) {
  std::cout << "seed " << seed_ << '\n';
  const std::int64_t first = second();
  for (int round = 0; round < 20 * base::test_effort() && !HasFailure(); ++round) {
    for (int i = 0; i < 40; ++i) {
      clock().advance(milliseconds(pick(1'500)));
      write_some();
    }
    if (pick(3) == 0) reopen();
    clock().advance(seconds(2));
    const std::int64_t from = first + 1 + static_cast<std::int64_t>(pick(static_cast<std::size_t>(second() - first)));
    const std::int64_t to = from + static_cast<std::int64_t>(pick(static_cast<std::size_t>(second() - from + 1)));
    const auto past = transfers().past_table(stock_table_arn, base::TimePoint(seconds(to)));
    ASSERT_EQ(outcome(past), "ok");
    const auto reader = transfers().read_changes(*past, base::TimePoint(seconds(from))).value();
    std::map<std::string, std::string> found;
    while (true) {
      const auto portion = reader->next();
      ASSERT_EQ(outcome(portion), "ok");
      for (const store::ItemChange& change : portion->changes) {
        const auto& image = change.after ? change.after : change.before;
        if (!image) continue;  // it came and went in between
        found[image->find("pk")->as<std::string>()] = (change.before ? item::to_json(*change.before) : "nothing") +
                                                      " > " + (change.after ? item::to_json(*change.after) : "nothing");
      }
      if (portion->is_last) break;
    }
    const Contents old_items = before(from);
    const Contents new_items = before(to);
    std::map<std::string, std::string> expected;
    for (auto each = written_.lower_bound(from); each != written_.lower_bound(to); ++each) {
      const std::string change = text_of(old_items, each->second) + " > " + text_of(new_items, each->second);
      if (change != "nothing > nothing") expected[each->second] = change;
    }
    EXPECT_EQ(found, expected) << from << " to " << to;
  }
}

}  // namespace
}  // namespace postino::engine
