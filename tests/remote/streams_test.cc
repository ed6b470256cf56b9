#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::ChangeType;
using store::ErrorType;
using store::IteratorType;

class StreamStoreTest : public StoreTest {
 protected:
  StreamStoreTest() {
    store::CreateTableRequest request;
    request.table_name = "changes";
    request.attribute_definitions = {{"pk", item::Type::string}};
    request.key_schema = {{"pk", store::KeyRole::hash}};
    request.billing_mode = store::BillingMode::pay_per_request;
    request.stream = store::StreamSpecification{true, store::StreamViewType::new_and_old_images};
    EXPECT_EQ(refusal_of(store().create_table(request)), "");
    arn_ = store().describe_table("changes")->latest_stream_arn.value_or("");
  }

  std::string iterator(IteratorType type, std::optional<std::string> number = std::nullopt) {
    const auto stream = store().describe_stream({.stream_arn = arn_});
    EXPECT_EQ(refusal_of(stream), "");
    if (!stream || stream->shards.empty()) return "";
    const auto made = store().get_shard_iterator({arn_, stream->shards.front().id, type, std::move(number)});
    EXPECT_EQ(refusal_of(made), "");
    return made.value_or("");
  }

  std::string arn_;
};

TEST_P(StreamStoreTest, TellsEveryChange) {
  ASSERT_TRUE(store().put_item(put("changes", {{"pk", "a"}, {"x", 1}})));
  ASSERT_TRUE(store().put_item(put("changes", {{"pk", "a"}, {"x", 2}})));
  ASSERT_TRUE(store().delete_item(remove("changes", {{"pk", "a"}})));
  const auto read = store().get_records({.shard_iterator = iterator(IteratorType::trim_horizon)});
  ASSERT_EQ(refusal_of(read), "");
  ASSERT_EQ(read->records.size(), 3U);
  EXPECT_TRUE(read->next_shard_iterator);
  const auto& records = read->records;
  EXPECT_EQ(records[0].type, ChangeType::insert);
  EXPECT_EQ(records[0].keys, (item::Key{{"pk", "a"}}));
  EXPECT_EQ(records[0].new_image, (Item{{"pk", "a"}, {"x", 1}}));
  EXPECT_EQ(records[0].old_image, std::nullopt);
  EXPECT_EQ(records[0].view_type, store::StreamViewType::new_and_old_images);
  EXPECT_EQ(base::epoch_seconds(records[0].time), base::epoch_seconds(engine::embedded_start));
  EXPECT_GT(records[0].size_bytes, 0);
  EXPECT_FALSE(records[0].by_time_to_live);
  EXPECT_EQ(records[1].type, ChangeType::modify);
  EXPECT_EQ(records[1].old_image, (Item{{"pk", "a"}, {"x", 1}}));
  EXPECT_EQ(records[2].type, ChangeType::remove);
  EXPECT_LT(records[0].sequence_number, records[1].sequence_number);
  EXPECT_LT(records[1].sequence_number, records[2].sequence_number);

  const std::string second = records[1].sequence_number.text();
  EXPECT_EQ(store().get_records({.shard_iterator = iterator(IteratorType::at_sequence_number, second)})->records.size(),
            2U);
  EXPECT_EQ(
      store().get_records({.shard_iterator = iterator(IteratorType::after_sequence_number, second)})->records.size(),
      1U);
  EXPECT_TRUE(store().get_records({.shard_iterator = iterator(IteratorType::latest)})->records.empty());
  EXPECT_EQ(store().get_records({.shard_iterator = iterator(IteratorType::trim_horizon), .limit = 2})->records.size(),
            2U);
}

TEST_P(StreamStoreTest, TellsWhatExpired) {
  ASSERT_TRUE(store().update_time_to_live("changes", {"ttl", true}));
  ASSERT_TRUE(store().put_item(put("changes", {{"pk", "a"}, {"ttl", base::epoch_seconds(clock().now()) + 10}})));
  clock().advance(std::chrono::hours(1));
  for (int i = 0; i < 100 && engine().run_maintenance_once().value_or(false); ++i) {
  }
  const auto read = store().get_records({.shard_iterator = iterator(IteratorType::trim_horizon)});
  ASSERT_EQ(refusal_of(read), "");
  ASSERT_EQ(read->records.size(), 2U);
  EXPECT_EQ(read->records[1].type, ChangeType::remove);
  EXPECT_TRUE(read->records[1].by_time_to_live);
}

TEST_P(StreamStoreTest, DescribesStreams) {
  const auto listed = store().list_streams({.table_name = "changes"});
  ASSERT_EQ(refusal_of(listed), "");
  ASSERT_EQ(listed->streams.size(), 1U);
  EXPECT_EQ(listed->streams[0].arn, arn_);
  EXPECT_EQ(listed->streams[0].table_name, "changes");
  const auto stream = store().describe_stream({.stream_arn = arn_});
  ASSERT_EQ(refusal_of(stream), "");
  EXPECT_EQ(stream->summary.label, listed->streams[0].label);
  EXPECT_EQ(stream->status, store::StreamStatus::enabled);
  EXPECT_EQ(stream->view_type, store::StreamViewType::new_and_old_images);
  EXPECT_EQ(stream->created, engine::embedded_start);
  ASSERT_EQ(stream->key_schema.size(), 1U);
  ASSERT_EQ(stream->shards.size(), 1U);
  EXPECT_FALSE(stream->shards[0].ending);
}

TEST_P(StreamStoreTest, RefusesWhatIsNotThere) {
  const auto stream = store().describe_stream({.stream_arn = arn_ + "0"});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().type, ErrorType::resource_not_found);
  const std::string old = iterator(IteratorType::trim_horizon);
  clock().advance(store::shard_iterator_life + base::Milliseconds(1));
  EXPECT_EQ(store().get_records({.shard_iterator = old}).error().type, ErrorType::expired_iterator);
}

ON_STORES_WITH(StreamStoreTest, Ability::streams);

}  // namespace
}  // namespace postino::remote
