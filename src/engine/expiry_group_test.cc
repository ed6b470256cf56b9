// Items that are made together expire together, and cost one entry.
#include "engine/items/expiry_group.h"

#include <functional>
#include <map>

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/consistency_testing.h"
#include "engine/engine_testing.h"
#include "engine/storage/database.h"
#include "engine/store_check.h"
#include "engine/store_repair.h"

namespace postino::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t group_second = 1'767'323'045 + 60;

class ExpiryGroupTest : public EngineTest {
 protected:
  ExpiryGroupTest() {
    create(table("letters", "id:S", "part:S"));
    EXPECT_TRUE(store().update_time_to_live("letters", {"expires", true}));
  }

  static item::Item part(const std::string& name, std::int64_t second) {
    return {{"id", "e"}, {"part", name}, {"expires", second}};
  }
  void put_together(const std::vector<std::string>& parts, std::int64_t second = group_second) {
    store::TransactWriteItemsRequest request;
    for (const std::string& name : parts)
      request.actions.push_back(store::TransactPut{.table_name = "letters", .item = part(name, second)});
    ASSERT_EQ(outcome(store().transact_write_items(request)), "ok");
  }
  void put_alone(const std::string& name, std::int64_t second) {
    ASSERT_EQ(outcome(store().put_item({.table_name = "letters", .item = part(name, second)})), "ok");
  }
  void remove(const std::string& name) {
    ASSERT_EQ(outcome(store().delete_item({.table_name = "letters", .key = {{"id", "e"}, {"part", name}}})), "ok");
  }
  std::string parts() {
    std::string names;
    for (const item::Item& item : scan_everything(store(), "letters"))
      names += item.find("part")->as<std::string>() + " ";
    return names;
  }
  void sweep() {
    while (engine().run_maintenance_once().value_or(false)) {
    }
  }
  void expire(std::int64_t second) {
    clock().advance(base::from_epoch_milliseconds(second * 1'000) - clock().now());
    sweep();
  }

  // Opens the database without the store, and the store again.
  void behind(const std::function<void(Database&, rocksdb::WriteBatch&)>& change) {
    engine_.reset();
    {
      auto database = Database::open(options_, nullptr);
      ASSERT_TRUE(database) << database.error().message;
      rocksdb::WriteBatch batch;
      change(**database, batch);
      ASSERT_TRUE((*database)->write(batch));
    }
    reopen();
  }
  std::map<std::string, std::string> expiry_entries() {
    std::map<std::string, std::string> found;
    behind([&](Database& database, rocksdb::WriteBatch&) {
      const std::unique_ptr<rocksdb::Iterator> entries(
          database.rocks().NewIterator(rocksdb::ReadOptions(), database.handle(Family::expiry)));
      for (entries->SeekToFirst(); entries->Valid(); entries->Next())
        found.emplace(entries->key().ToString(), entries->value().ToString());
    });
    return found;
  }
  StoreCheck check() {
    engine_.reset();
    auto checked = check_store(options_.directory, *clock_);
    EXPECT_TRUE(checked) << checked.error().message;
    reopen();
    return checked ? *std::move(checked) : StoreCheck();
  }
};

TEST_F(ExpiryGroupTest, ItemsThatAreMadeTogetherCostOneEntry) {
  put_together({"a", "bb", "ccc"});
  const auto entries = expiry_entries();
  ASSERT_THAT(entries, SizeIs(1));
  const auto& [key, value] = *entries.begin();
  // Table, second with the mark, hash and length of the partition key, the key, the sum of the value.
  EXPECT_EQ(base::to_hex(key),
            "00000001"
            "80000000695735e1"
            "e5e72e5e"
            "0001"
            "65"
            "bb8b1fa50d627257");
  EXPECT_EQ(base::to_hex(value),
            "01"
            "61"
            "02"
            "6262"
            "03"
            "636363");
  const auto group = parse_expiry_group(key, value);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->second, group_second);
  EXPECT_THAT(group->stored_item_keys, SizeIs(3));

  EXPECT_EQ(check().counts.expiry_entries, 3U);
  expire(group_second - 1);
  EXPECT_EQ(parts(), "a bb ccc ");
  expire(group_second);
  EXPECT_EQ(parts(), "");
  EXPECT_THAT(expiry_entries(), IsEmpty());
  EXPECT_THAT(check().problems.lines(), IsEmpty());
}

TEST_F(ExpiryGroupTest, FewItemsAndOthersGetEntriesOfTheirOwn) {
  put_together({"a", "b"});
  for (const auto& [key, value] : expiry_entries()) EXPECT_FALSE(is_expiry_group(key));
  put_together({"c", "d"}, group_second + 1);
  put_alone("e", group_second);
  EXPECT_THAT(expiry_entries(), SizeIs(5));
  EXPECT_THAT(check().problems.lines(), IsEmpty());
  expire(group_second);
  EXPECT_EQ(parts(), "c d ");
}

TEST_F(ExpiryGroupTest, AnItemThatGotAnotherTimeOrIsGoneIsLeftAlone) {
  put_together({"a", "b", "c", "d"});
  put_alone("a", group_second + 100);
  remove("b");
  put_alone("c", group_second + 100);
  put_alone("c", group_second);
  EXPECT_THAT(check().problems.lines(), IsEmpty()) << "a group may have items that are gone";
  expire(group_second);
  EXPECT_EQ(parts(), "a ");
  EXPECT_THAT(expiry_entries(), SizeIs(1));
  expire(group_second + 100);
  EXPECT_EQ(parts(), "");
  EXPECT_THAT(expiry_entries(), IsEmpty());
}

TEST_F(ExpiryGroupTest, AnItemInTwoGroupsIsDeletedOnce) {
  put_together({"a", "b", "c"});
  remove("a");
  put_together({"a", "d", "e"});
  EXPECT_THAT(expiry_entries(), SizeIs(2));
  expire(group_second);
  EXPECT_EQ(parts(), "");
  EXPECT_THAT(check().problems.lines(), IsEmpty()) << "the counts are right";
}

TEST_F(ExpiryGroupTest, WhatTheGuardKeepsKeepsItsGroup) {
  bool is_finished = false;
  engine().guard_expiry([&](const std::string&, const item::Item& item) {
    return is_finished || item.find("part")->as<std::string>() != "b";
  });
  put_together({"a", "b", "c"});
  expire(group_second);
  EXPECT_EQ(parts(), "b ");
  is_finished = true;
  clock().advance(std::chrono::hours(1));
  sweep();
  EXPECT_EQ(parts(), "");
  EXPECT_THAT(expiry_entries(), IsEmpty());
}

TEST_F(ExpiryGroupTest, AMissingOrDamagedGroupIsFoundAndMadeAnew) {
  for (const bool missing : {true, false}) {
    const std::int64_t second = base::epoch_seconds(clock().now()) + 60;
    put_together({"a", "b", "c"}, second);
    const std::string key = expiry_entries().begin()->first;
    behind([&](Database& database, rocksdb::WriteBatch& batch) {
      if (missing)
        batch.Delete(database.handle(Family::expiry), key);
      else
        batch.Put(database.handle(Family::expiry), key, "\x01z");
    });
    const auto problems = check().problems.lines();
    EXPECT_THAT(problems, testing::Contains(HasSubstr("is missing in the expiry entries")));
    if (!missing) {
      EXPECT_THAT(problems, testing::Contains(HasSubstr("the expiry entry " + base::to_hex(key))));
    }
    engine_.reset();
    ASSERT_TRUE(repair_store(options_.directory, std::nullopt, *clock_));
    reopen();
    EXPECT_THAT(check().problems.lines(), IsEmpty());
    expire(second);
    EXPECT_EQ(parts(), "");
  }
}

TEST_F(ExpiryGroupTest, EntriesOfEarlierVersionsHold) {
  put_together({"a", "b", "c"});
  const auto entries = expiry_entries();
  const auto group = parse_expiry_group(entries.begin()->first, entries.begin()->second);
  ASSERT_TRUE(group);
  behind([&](Database& database, rocksdb::WriteBatch& batch) {
    batch.Delete(database.handle(Family::expiry), entries.begin()->first);
    for (const std::string& key : group->stored_item_keys)
      batch.Put(database.handle(Family::expiry),
                expiry_key(base::load_big_endian<ObjectId>(key.data()), group->second, key), "");
  });
  EXPECT_THAT(check().problems.lines(), IsEmpty());
  expire(group_second);
  EXPECT_EQ(parts(), "");
  EXPECT_THAT(expiry_entries(), IsEmpty());
}

}  // namespace
}  // namespace postino::engine
