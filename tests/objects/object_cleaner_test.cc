#include "objects/object_cleaner.h"

#include "large_item_environment.h"

namespace postino::objects {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ObjectCleanerTest : public testing::Test {
 protected:
  void put(item::Item item) { ASSERT_TRUE(succeeded(store_.large().put_item(put_of(std::move(item))))); }
  void remove(const std::string& id) {
    store::DeleteItemRequest removal;
    removal.table_name = tickets_table;
    removal.key = ticket_key(id);
    ASSERT_TRUE(succeeded(store_.large().delete_item(removal)));
  }
  void follow(ObjectCleaner& cleaner) {
    while (true) {
      const auto seen = cleaner.follow_once(base::Milliseconds(0));
      ASSERT_TRUE(seen) << seen.error().message;
      if (*seen == 0) return;
    }
  }
  // An object that a writer has left which ended before it wrote its item.
  std::string leave_object(const std::string& id) {
    const std::string name =
        name_for_item(large_items_kind(), store_.table(), ticket_key(id), base::make_uuid(store_.random())).value();
    EXPECT_TRUE(store_.objects().put(name, "{}"));
    return name;
  }

  LargeItemEnvironment store_;
  ObjectCleaner cleaner_ = store_.make_cleaner();
};

TEST_F(ObjectCleanerTest, ObjectsGoWithTheirItems) {
  put(large_ticket("1", 1));
  put(large_ticket("2", 1));
  put(small_ticket("3", 1));
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), SizeIs(2));
  put(large_ticket("1", 2));
  put(small_ticket("2", 2));
  remove("3");
  follow(cleaner_);
  EXPECT_EQ(store_.kept(), store_.referred());
  EXPECT_THAT(store_.kept(), SizeIs(1));
  remove("1");
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), IsEmpty());
  EXPECT_EQ(cleaner_.counts().removed, 3U);
}

// Other programs write what they like where the name of an object is expected.
TEST_F(ObjectCleanerTest, ANameThatIsNoneKeepsNoOtherBack) {
  put(large_ticket("1", 1));
  const std::string before = "s3://test-bucket/" + object_prefix(large_items_kind(), store_.table());
  for (const std::string& odd : {std::string("\0", 1), std::string("\u00e9"), std::string(300, 'v')}) {
    item::Item item = small_ticket("2", 1);
    item.set(large_items_kind().attribute, before + "TICKET#2/METADATA/v" + odd + ".json");
    ASSERT_TRUE(succeeded(store_.engine().put_item(put_of(item))));
    remove("2");
  }
  remove("1");
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), IsEmpty());
}

TEST_F(ObjectCleanerTest, ObjectsGoWhenTheirItemsExpire) {
  item::Item item = large_ticket("1", 1);
  item.set("ttl", base::epoch_seconds(store_.clock().now()) + 3'600);
  put(item);
  put(large_ticket("2", 1));
  store_.time().advance(std::chrono::hours(2));
  while (store_.engine().run_maintenance_once().value_or(false)) {
  }
  EXPECT_EQ(store_.raw(ticket_key("1")), std::nullopt);
  follow(cleaner_);
  EXPECT_EQ(store_.kept(), store_.referred());
  EXPECT_THAT(store_.kept(), SizeIs(1));
}

TEST_F(ObjectCleanerTest, UpdatesKeepTheObject) {
  put(large_ticket("1", 1));
  ASSERT_TRUE(succeeded(store_.large().update_item(update_of(ticket_key("1"), "SET note = :x", {{":x", 1}}))));
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), SizeIs(1));
}

TEST_F(ObjectCleanerTest, AnItemThatWasPutBackKeepsItsObject) {
  put(large_ticket("1", 1));
  const item::Item read = store_.raw(ticket_key("1")).value();
  remove("1");
  ASSERT_TRUE(succeeded(store_.engine().put_item(put_of(read))));
  follow(cleaner_);
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
}

TEST_F(ObjectCleanerTest, GoesOnWhereTheOneBeforeItWas) {
  put(large_ticket("1", 1));
  remove("1");
  follow(cleaner_);
  ASSERT_TRUE(cleaner_.save_position());
  put(large_ticket("2", 1));
  remove("2");
  ObjectCleaner next = store_.make_cleaner();
  EXPECT_EQ(next.follow_once(base::Milliseconds(0)).value_or(-1), 2)
      << "what the first had seen is not looked at again";
  EXPECT_EQ(next.counts().removed, 1U);
  EXPECT_THAT(store_.kept(), IsEmpty());
  // The place is written down from time to time.
  put(large_ticket("3", 1));
  store_.time().advance(std::chrono::minutes(2));
  follow(next);
  ObjectCleaner third = store_.make_cleaner();
  EXPECT_EQ(third.follow_once(base::Milliseconds(0)).value_or(-1), 0);
}

TEST_F(ObjectCleanerTest, AfterAnOutageItGoesOnWithTheSameChange) {
  put(large_ticket("1", 1));
  put(large_ticket("2", 1));
  follow(cleaner_);
  remove("1");
  remove("2");
  store_.objects().set_outage(true);
  EXPECT_FALSE(cleaner_.follow_once(base::Milliseconds(0)));
  store_.objects().set_outage(false);
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), IsEmpty());
}

TEST_F(ObjectCleanerTest, WhatTheStreamNoLongerHasIsFoundByAge) {
  put(large_ticket("1", 1));
  follow(cleaner_);
  remove("1");
  put(large_ticket("2", 1));
  // In steps: a clock that jumps by a day is doubted.
  for (int step = 0; step < 8; ++step) {
    store_.time().advance(std::chrono::hours(6));
    while (store_.engine().run_maintenance_once().value_or(false)) {
    }
  }
  follow(cleaner_);
  EXPECT_EQ(cleaner_.counts().gaps, 1U);
  EXPECT_THAT(store_.kept(), SizeIs(2));
  EXPECT_EQ(cleaner_.sweep_some(10).value_or(-1), 2);
  EXPECT_EQ(store_.kept(), store_.referred());
  put(large_ticket("2", 2));
  follow(cleaner_);
  EXPECT_EQ(store_.kept(), store_.referred()) << "it follows on";
}

// The form of the note: an operator may find it in the bucket.
TEST_F(ObjectCleanerTest, ThePlaceIsAnObject) {
  put(small_ticket("1", 1));
  follow(cleaner_);
  ASSERT_TRUE(cleaner_.save_position());
  const auto table = store_.engine().describe_table(tickets_table);
  const auto records = store_.engine().subscribe(tickets_table, std::nullopt).value()->next(1, base::Milliseconds(0));
  EXPECT_EQ(store_.objects().get("positions/tickets/" + table->id).value_or("-"),
            records->front().sequence_number.text() + " " + *table->latest_stream_arn);
}

// The stream was ended and begun again while no cleaner was there: what happened in between was told by none of them.
TEST_F(ObjectCleanerTest, APlaceInAnotherStreamIsForgotten) {
  put(large_ticket("1", 1));
  follow(cleaner_);
  ASSERT_TRUE(cleaner_.save_position());
  for (const bool enabled : {false, true}) {
    store_.time().advance(std::chrono::seconds(1));
    store::UpdateTableRequest update;
    update.table_name = tickets_table;
    update.stream = store::StreamSpecification{enabled, std::nullopt};
    if (enabled) update.stream->view_type = store::StreamViewType::new_and_old_images;
    ASSERT_TRUE(succeeded(store_.engine().update_table(update)));
  }
  ObjectCleaner next = store_.make_cleaner();
  put(small_ticket("1", 2));
  follow(next);
  EXPECT_EQ(next.counts().gaps, 1U);
  EXPECT_THAT(store_.kept(), IsEmpty()) << "it follows on";
}

TEST_F(ObjectCleanerTest, APlaceThatCannotBeReadIsNone) {
  const std::string id = store_.engine().describe_table(tickets_table)->id;
  ASSERT_TRUE(store_.objects().put("positions/tickets/" + id, "somewhere"));
  put(large_ticket("1", 1));
  put(small_ticket("1", 2));
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), IsEmpty());
}

TEST_F(ObjectCleanerTest, APlaceThatTheStoreDoesNotKnowIsForgotten) {
  const auto table = store_.engine().describe_table(tickets_table);
  ASSERT_TRUE(
      store_.objects().put("positions/tickets/" + table->id, "109000000000000000000 " + *table->latest_stream_arn));
  put(large_ticket("1", 1));
  put(small_ticket("1", 2));
  follow(cleaner_);
  EXPECT_THAT(store_.kept(), IsEmpty());
  EXPECT_EQ(cleaner_.counts().gaps, 1U);
}

TEST_F(ObjectCleanerTest, SweepsInParts) {
  for (int i = 0; i < 5; ++i) put(large_ticket(std::to_string(i), 1));
  std::vector<std::string> left;
  for (int i = 0; i < 5; ++i) left.push_back(leave_object(std::to_string(i)));
  ASSERT_TRUE(store_.objects().put("large-items/TICKET#9/METADATA.json", "{}"));
  ASSERT_TRUE(store_.objects().put("large-items/tickets/readme.txt", "text"));
  store_.time().advance(std::chrono::hours(25));
  int seen = 0;
  for (int i = 0; i < 6; ++i) seen += cleaner_.sweep_some(2).value_or(100);
  EXPECT_EQ(seen, 11);
  EXPECT_EQ(cleaner_.counts().orphans, 5U);
  EXPECT_EQ(store_.kept().size(), 6U) << "five that are referred to, and one of somebody";
  EXPECT_TRUE(store_.objects().names().contains("large-items/TICKET#9/METADATA.json")) << "of the seed's program";
  const std::string later = leave_object("9");
  EXPECT_EQ(cleaner_.sweep_some(100).value_or(-1), 0) << "the pause";
  store_.time().advance(std::chrono::hours(25));
  EXPECT_GT(cleaner_.sweep_some(100).value_or(-1), 0);
  EXPECT_FALSE(store_.objects().names().contains(later));
}

TEST_F(ObjectCleanerTest, NothingIsRemovedForAnotherTableOfTheSameName) {
  const std::string left = leave_object("1");
  ASSERT_TRUE(cleaner_.sweep_some(10));
  // Another store, with a table of the same name, uses the same bucket.
  class OtherStore final : public store::ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    store::Answer<store::TableDescription> describe_table(const std::string& name) override {
      auto description = inner().describe_table(name);
      if (description) description->id = "another";
      return description;
    }
  };
  LargeItemEnvironment environment;
  OtherStore other(environment.engine());
  ObjectCleaner cleaner(other, store_.objects(), store_.table(), {large_items_kind()}, store_.clock());
  store_.time().advance(std::chrono::hours(100));
  const auto swept = cleaner.sweep_some(10);
  ASSERT_FALSE(swept);
  EXPECT_EQ(swept.error().code, base::ErrorCode::conflict);
  EXPECT_THAT(swept.error().message, HasSubstr("belong to another table"));
  EXPECT_THAT(store_.kept(), SizeIs(1));
  EXPECT_TRUE(cleaner_.sweep_some(10));
  EXPECT_THAT(store_.kept(), IsEmpty()) << "its own store removes it";
}

TEST_F(ObjectCleanerTest, NothingIsRemovedWhileTheClockIsDoubted) {
  class DoubtfulClock final : public base::Clock {
   public:
    base::TimePoint now() const override { return engine::embedded_start + std::chrono::hours(1'000); }
    bool is_doubtful() const override { return true; }
  } doubtful;
  leave_object("1");
  ObjectCleaner cleaner(store_.engine(), store_.objects(), store_.table(), {large_items_kind()}, doubtful);
  EXPECT_EQ(cleaner.sweep_some(10).value_or(-1), 0);
  EXPECT_THAT(store_.kept(), SizeIs(1));
}

TEST_F(ObjectCleanerTest, ATableWithoutAStreamIsSweptAlone) {
  store::UpdateTableRequest update;
  update.table_name = tickets_table;
  update.stream = store::StreamSpecification{false, std::nullopt};
  ASSERT_TRUE(succeeded(store_.engine().update_table(update)));
  put(large_ticket("1", 1));
  remove("1");
  EXPECT_EQ(cleaner_.follow_once(base::Milliseconds(0)).value_or(-1), 0);
  EXPECT_THAT(store_.kept(), SizeIs(1));
  store_.time().advance(std::chrono::hours(25));
  EXPECT_TRUE(cleaner_.sweep_some(10));
  EXPECT_THAT(store_.kept(), IsEmpty());
}

}  // namespace
}  // namespace postino::objects
