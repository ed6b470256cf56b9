// Tables are copied between an embedded store and one over HTTP, in both directions.
#include "transfer/table_copy.h"

#include <atomic>
#include <functional>
#include <map>

#include "store/forwarding_store.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::KeyRole;
using testing::ElementsAre;
using testing::HasSubstr;
using transfer::CopiedTable;
using transfer::ItemCounts;
using transfer::TableCopy;

// The items that are in a table, in the order of their keys.
std::map<std::string, Item> contents(store::Store& store, const std::string& table) {
  std::map<std::string, Item> items;
  store::ScanRequest scan;
  scan.table_name = table;
  do {
    const auto page = store.scan(scan);
    EXPECT_EQ(refusal_of(page), "");
    if (!page) break;
    for (const Item& item : page->items)
      items.emplace(item.find("pk")->as<std::string>() + "/" + item.find("sk")->as<item::Number>().to_string(), item);
    scan.exclusive_start_key = page->last_evaluated_key;
  } while (scan.exclusive_start_key);
  return items;
}

// Writes in batches and one by one go to `inner`, unless the test has something against them.
class DisturbedStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::batch_write_item;
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::put_item;

  std::function<std::optional<store::Error>(const Item&)> refusal = [](const Item&) { return std::nullopt; };
  std::atomic<int> batches_allowed = 1'000'000;
  std::atomic<int> most_of_a_batch = 25;  // the rest is left undone
  std::atomic<int> items_written = 0;

  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override {
    if (batches_allowed-- <= 0) return store::refuse(store::ErrorType::access_denied, "the line is dead");
    for (const store::BatchWrite& write : request.tables.front().writes)
      if (auto error = refusal(std::get<store::BatchPut>(write).item))
        return tl::unexpected<store::Error>(*std::move(error));
    store::BatchWriteItemRequest taken = request;
    auto& writes = taken.tables.front().writes;
    const auto most = static_cast<std::size_t>(most_of_a_batch.load());
    store::BatchWriteItemResponse response;
    if (writes.size() > most) {
      response.unprocessed = {{taken.tables.front().table_name, {writes.begin() + most_of_a_batch, writes.end()}}};
      writes.resize(most);
    }
    items_written += static_cast<int>(writes.size());
    if (!writes.empty()) TRY_VOID(inner().batch_write_item(taken));
    return response;
  }
  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    if (auto error = refusal(request.item)) return tl::unexpected<store::Error>(*std::move(error));
    ++items_written;
    return inner().put_item(request);
  }
};

// The store of the parameter is the target, and an embedded one the source; or the other way round.
class TableCopyTest : public testing::TestWithParam<Place> {
 protected:
  TableCopyTest()
      : clock_(std::make_shared<base::ManualClock>(engine::embedded_start)),
        one_(clock_),
        other_(clock_),
        service_(GetParam() == Place::remote ? other_.engine() : one_.engine()),
        target_(GetParam() == Place::remote ? service_.store() : other_.engine()) {
    for (engine::Engine* const engine : {&one_.engine(), &other_.engine()}) {
      store::CreateTableRequest request;
      request.table_name = "things";
      request.attribute_definitions = {{"pk", item::Type::string}, {"sk", item::Type::number}};
      request.key_schema = keys_;
      request.billing_mode = store::BillingMode::pay_per_request;
      EXPECT_EQ(refusal_of(engine->create_table(request)), "");
    }
  }

  store::Store& source() { return GetParam() == Place::remote ? one_.engine() : service_.store(); }
  DisturbedStore& target() { return target_; }

  static Item thing(int number) {
    return {{"pk", "thing#" + std::to_string(number / 10)},
            {"sk", number},
            {"bytes", item::Binary{std::string("\0\xff", 2)}},
            {"deep", item::Map{{"list", item::List{item::Null{}, true, "text"}}}},
            {"set", item::StringSet({"a", "b"})}};
  }
  // That is the engine of the source, whichever way it is read.
  void fill(int count) {
    for (int number = 0; number < count; ++number)
      ASSERT_EQ(refusal_of(one_.engine().put_item(put("things", thing(number)))), "");
  }

  TableCopy copier(CopiedTable table) {
    return {source(), target_, std::move(table), *clock_, one_.retry(), {.segments = 3}};
  }
  TableCopy copier() { return copier({.name = "things", .keys = keys_, .expiry = "ttl", .left_out = {}}); }
  static ItemCounts copied(TableCopy copy) {
    const auto counts = copy.copy([](std::int64_t) {});
    EXPECT_TRUE(counts) << counts.error().message;
    return counts.value_or(ItemCounts());
  }

  const store::KeySchema keys_ = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  std::shared_ptr<base::ManualClock> clock_;
  engine::EmbeddedStore one_;
  engine::EmbeddedStore other_;
  LocalService service_;
  DisturbedStore target_;
};

TEST_P(TableCopyTest, CopiesEveryItemAsItIs) {
  fill(230);
  TableCopy copy = copier();
  std::vector<std::int64_t> progress;
  const auto counts = copy.copy([&](std::int64_t done) { progress.push_back(done); });
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 230);
  EXPECT_EQ(counts->present + counts->different + counts->failed, 0);
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  EXPECT_EQ(progress.back(), 230);
  EXPECT_EQ(contents(target(), "things"), contents(source(), "things"));
  const auto compared = copy.compare([&](std::int64_t done) { progress.push_back(done); });
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_EQ(compared->source, 230);
  EXPECT_EQ(compared->target, 230);
  EXPECT_EQ(progress.back(), 460) << "those of both sides";
}

TEST_P(TableCopyTest, GoesOnWhereItWasBrokenOff) {
  fill(230);
  target().batches_allowed = 4;
  const auto broken = copier().copy([](std::int64_t) {});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("the line is dead"));
  const int written = target().items_written;
  ASSERT_GT(written, 0);
  ASSERT_LT(written, 230);
  target().batches_allowed = 1'000;
  const ItemCounts counts = copied(copier());
  EXPECT_EQ(counts.present, written);
  EXPECT_EQ(counts.copied, 230 - written);
  EXPECT_EQ(target().items_written, 230) << "none is written twice";
  EXPECT_EQ(contents(target(), "things"), contents(source(), "things"));
  EXPECT_EQ(copied(copier()).present, 230);
  EXPECT_EQ(target().items_written, 230);
}

TEST_P(TableCopyTest, LeavesAloneWhatTheTargetHas) {
  fill(20);
  const Item newer{{"pk", "thing#0"}, {"sk", 3}, {"state", "newer"}};
  ASSERT_TRUE(target().put_item(put("things", newer)));
  ASSERT_TRUE(target().put_item(put("things", thing(4))));
  ASSERT_TRUE(target().put_item(put("things", thing(1'000))));
  const ItemCounts counts = copied(copier());
  EXPECT_EQ(counts.copied, 18);
  EXPECT_EQ(counts.present, 1);
  EXPECT_EQ(counts.different, 1);
  EXPECT_THAT(counts.differences, testing::ElementsAre(testing::AllOf(HasSubstr("thing#0"), HasSubstr("\"3\""))));
  EXPECT_EQ(contents(target(), "things").at("thing#0/3"), newer);
  const auto compared = copier().compare([](std::int64_t) {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->source, 20);
  EXPECT_EQ(compared->target, 21) << "one that the source has not";
}

TEST_P(TableCopyTest, LeavesOutWhatIsNotForTheTarget) {
  fill(5);
  for (const std::string& name : {std::string("counts/a"), std::string("checkpoint#b")})
    ASSERT_TRUE(source().put_item(put("things", {{"pk", name}, {"sk", 1}})));
  TableCopy copy = copier({.name = "things", .keys = keys_, .expiry = "ttl", .left_out = {"counts/", "checkpoint#"}});
  const auto counts = copy.copy([](std::int64_t) {});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 5);
  EXPECT_EQ(contents(target(), "things").size(), 5U);
  const auto compared = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->source, 5);
  EXPECT_EQ(compared->target, 5);
}

// Each side removes them at a time of its own.
TEST_P(TableCopyTest, WhatExpiresIsCopiedAndNotCounted) {
  const std::int64_t now = base::epoch_seconds(clock_->now());
  const auto expiring = [](int number, std::int64_t end) { return Item{{"pk", "x"}, {"sk", number}, {"ttl", end}}; };
  ASSERT_TRUE(source().put_item(put("things", expiring(1, now - 5))));
  ASSERT_TRUE(source().put_item(put("things", expiring(2, now + 60))));
  ASSERT_TRUE(source().put_item(put("things", expiring(3, now + 86'400))));
  TableCopy copy = copier();
  const auto counts = copy.copy([](std::int64_t) {});
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->copied, 3);
  ASSERT_TRUE(target().delete_item(remove("things", {{"pk", "x"}, {"sk", 1}})));
  const auto compared = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->source, 1);
  EXPECT_EQ(compared->target, 1);
}

TEST_P(TableCopyTest, ACountThatTakesTooLongIsRepeated) {
  const std::int64_t now = base::epoch_seconds(clock_->now());
  ASSERT_TRUE(source().put_item(put("things", {{"pk", "x"}, {"sk", 1}, {"ttl", now + 3 * 3'600}})));
  TableCopy copy = copier();
  ASSERT_TRUE(copy.copy([](std::int64_t) {}));
  // Between the two counts two hours pass, and then no time: in the second round it counts as one that expires.
  int rounds = 0;
  const auto compared = copy.compare([&](std::int64_t done) {
    if (done > 0 && rounds++ == 0) clock_->advance(std::chrono::hours(2));
  });
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->source, 0);
  EXPECT_EQ(compared->target, 0);
}

TEST_P(TableCopyTest, AnItemThatTheTargetRefusesKeepsNoOthersBack) {
  fill(40);
  target().refusal = [](const Item& item) -> std::optional<store::Error> {
    if (*item.find("sk") != item::AttributeValue(17)) return std::nullopt;
    return store::Error(store::ErrorType::validation, "Item size has exceeded the maximum allowed size");
  };
  const ItemCounts counts = copied(copier());
  EXPECT_EQ(counts.copied, 39);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_THAT(counts.failures, ElementsAre(testing::AllOf(HasSubstr("thing#1"), HasSubstr("Item size has exceeded"))));
  const auto compared = copier().compare([](std::int64_t) {});
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->equal());
}

TEST_P(TableCopyTest, WhatABatchLeavesUndoneIsWrittenLater) {
  fill(60);
  target().most_of_a_batch = 2;
  EXPECT_EQ(copied(copier()).copied, 60);
  EXPECT_EQ(contents(target(), "things"), contents(source(), "things"));
}

TEST_P(TableCopyTest, ATableThatTakesNothingIsTold) {
  fill(3);
  target().most_of_a_batch = 0;
  const auto counts = copier().copy([](std::int64_t) {});
  ASSERT_FALSE(counts);
  EXPECT_THAT(counts.error().message, HasSubstr("things takes no more items now"));
}

TEST_P(TableCopyTest, LargeItemsGoInSeveralPages) {
  for (int number = 0; number < 12; ++number) {
    Item item = thing(number);
    item.set("text", std::string(390'000, 'x'));
    ASSERT_EQ(refusal_of(source().put_item(put("things", item))), "");
  }
  EXPECT_EQ(copied(copier()).copied, 12);
  const ItemCounts again = copied(copier());
  EXPECT_EQ(again.present, 12);
  EXPECT_EQ(again.different, 0);
}

ON_EVERY_STORE(TableCopyTest);

}  // namespace
}  // namespace postino::remote
