#include "engine/streams/stream_operations.h"

#include <gmock/gmock.h>

#include "engine/core_tables_testing.h"
#include "engine/streams/stream_shards.h"
#include "engine/upkeep/stream_trimmer.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using store::IteratorType;
using store::StreamViewType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr base::Milliseconds one_millisecond{1};
constexpr auto trimmed_error = "TrimmedDataAccessException: The data you are trying to access has been trimmed";

class StreamOperationsTest : public CoreTablesTest {
 protected:
  store::StreamDescription describe(const std::string& arn) {
    const auto description = streams().describe({.stream_arn = arn});
    CHECK(description.has_value());
    return *description;
  }
  std::string newest_shard(const std::string& arn) { return describe(arn).shards.back().id; }

  store::Answer<std::string> iterator(const std::string& arn, IteratorType type,
                                      std::optional<std::string> number = std::nullopt) {
    return streams().shard_iterator({arn, newest_shard(arn), type, std::move(number)});
  }
  // The pk values of a page.
  static std::vector<std::string> keys_of(const store::Answer<store::GetRecordsResponse>& page) {
    std::vector<std::string> keys;
    if (!page) return {outcome_of(page)};
    for (const store::StreamRecord& record : page->records) keys.push_back(record.keys.find("pk")->as<std::string>());
    return keys;
  }
  std::vector<std::string> read(const store::Answer<std::string>& from) {
    if (!from) return {outcome_of(from)};
    return keys_of(streams().records({*from, std::nullopt}));
  }
  void roll() {
    clock().advance(shard_life);
    ASSERT_EQ(outcome_of(StreamTrimmer(core()).run_once()), "ok");
  }
  StreamOperations streams() { return StreamOperations(core()); }
};

TEST_F(StreamOperationsTest, ListsStreamsInPages) {
  create_table("bbb", StreamViewType::keys_only);
  create_table("aaa", StreamViewType::keys_only);
  create_table("ccc");
  const auto all = streams().list({});
  ASSERT_TRUE(all);
  ASSERT_THAT(all->streams, SizeIs(2));
  EXPECT_EQ(all->streams[0].table_name, "aaa");
  EXPECT_EQ(all->streams[0].label, "2026-01-02T03:04:05.678");
  EXPECT_EQ(all->streams[0].arn, "arn:aws:dynamodb:us-east-1:000000000000:table/aaa/stream/2026-01-02T03:04:05.678");
  EXPECT_EQ(all->last_evaluated_stream_arn, std::nullopt);

  const auto first = streams().list({.limit = 1});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->last_evaluated_stream_arn, all->streams[0].arn);
  const auto second = streams().list({.limit = 1, .exclusive_start_stream_arn = first->last_evaluated_stream_arn});
  ASSERT_TRUE(second);
  ASSERT_THAT(second->streams, SizeIs(1));
  EXPECT_EQ(second->streams[0].table_name, "bbb");
  EXPECT_EQ(second->last_evaluated_stream_arn, std::nullopt);
}

TEST_F(StreamOperationsTest, ListsTheStreamsOfOneTable) {
  create_table("aaa", StreamViewType::keys_only);
  create_table("bbb", StreamViewType::keys_only);
  disable_stream("bbb");
  clock().advance(one_millisecond);
  enable_stream("bbb", StreamViewType::new_image);
  EXPECT_THAT(streams().list({.table_name = "bbb"})->streams, SizeIs(2));
  EXPECT_THAT(streams().list({.table_name = "none"})->streams, IsEmpty());
}

TEST_F(StreamOperationsTest, RefusesBadListRequests) {
  EXPECT_EQ(outcome_of(streams().list({.exclusive_start_stream_arn = "nonsense"})),
            "ValidationException: Invalid StreamArn");
  EXPECT_EQ(outcome_of(streams().list({.limit = 0})),
            "ValidationException: 1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1");
  EXPECT_EQ(outcome_of(streams().list({.limit = 101})),
            "ValidationException: 1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: "
            "Member must have value less than or equal to 100");
}

TEST_F(StreamOperationsTest, DescribesAStream) {
  create_table("aaa", StreamViewType::old_image);
  const store::StreamDescription description = describe(stream_arn("aaa"));
  EXPECT_EQ(description.status, store::StreamStatus::enabled);
  EXPECT_EQ(description.view_type, StreamViewType::old_image);
  EXPECT_EQ(description.created, clock().now());
  EXPECT_THAT(description.key_schema, ElementsAre(store::KeyElement{"pk", store::KeyRole::hash}));
  ASSERT_THAT(description.shards, SizeIs(1));
  EXPECT_THAT(description.shards[0].id, ::testing::MatchesRegex("shardId-00000001767323045678-[0-9a-f]+"));
  EXPECT_EQ(description.shards[0].id.size(), 8 + 20 + 1 + 8U);
  EXPECT_EQ(description.shards[0].parent_id, std::nullopt);
  EXPECT_EQ(description.shards[0].ending, std::nullopt);

  disable_stream("aaa");
  EXPECT_EQ(describe(stream_arn("aaa")).status, store::StreamStatus::disabled);
  EXPECT_TRUE(describe(stream_arn("aaa")).shards[0].ending.has_value());
}

TEST_F(StreamOperationsTest, RefusesUnknownStreams) {
  for (const std::string arn : {"", "nonsense", "arn:aws:dynamodb:us-east-1:000000000000:table/aaa",
                                "arn:aws:dynamodb:us-east-1:000000000000:table/aaa/stream/",
                                "arn:aws:s3:us-east-1:000000000000:table/aaa/stream/2026-01-02T03:04:05.678"})
    EXPECT_EQ(outcome_of(streams().describe({.stream_arn = arn})), "ValidationException: Invalid StreamArn") << arn;
  const std::string unknown = "arn:aws:dynamodb:us-east-1:000000000000:table/aaa/stream/2026-01-02T03:04:05.678";
  EXPECT_EQ(outcome_of(streams().describe({.stream_arn = unknown})),
            "ResourceNotFoundException: Requested resource not found: Stream: " + unknown + " not found");
}

TEST_F(StreamOperationsTest, DescribesShardsInPages) {
  create_table("aaa", StreamViewType::keys_only);
  roll();
  roll();
  const std::string arn = stream_arn("aaa");
  const auto shards = describe(arn).shards;
  ASSERT_THAT(shards, SizeIs(3));
  EXPECT_EQ(shards[1].parent_id, shards[0].id);
  EXPECT_EQ(shards[2].parent_id, shards[1].id);
  EXPECT_TRUE(shards[0].ending && shards[1].ending && !shards[2].ending);
  EXPECT_LE(shards[0].starting, *shards[0].ending);

  const auto first = streams().describe({.stream_arn = arn, .limit = 2});
  EXPECT_EQ(first->last_evaluated_shard_id, shards[1].id);
  const auto rest =
      streams().describe({.stream_arn = arn, .limit = 2, .exclusive_start_shard_id = first->last_evaluated_shard_id});
  ASSERT_THAT(rest->shards, SizeIs(1));
  EXPECT_EQ(rest->shards[0].id, shards[2].id);
  EXPECT_EQ(rest->last_evaluated_shard_id, std::nullopt);

  const auto unknown = streams().describe({.stream_arn = arn, .exclusive_start_shard_id = "shardId-none"});
  EXPECT_THAT(unknown->shards, IsEmpty());
  const auto children = streams().describe({.stream_arn = arn, .children_of_shard_id = shards[0].id});
  ASSERT_THAT(children->shards, SizeIs(1));
  EXPECT_EQ(children->shards[0].id, shards[1].id);
}

TEST_F(StreamOperationsTest, ReadsEveryChangeFromTheTrimHorizon) {
  create_table("aaa", StreamViewType::new_and_old_images);
  put("aaa", R"({"pk":{"S":"k"},"v":{"N":"1"}})");
  put("aaa", R"({"pk":{"S":"k"},"v":{"N":"1"}})");  // changes nothing
  put("aaa", R"({"pk":{"S":"k"},"v":{"N":"2"}})");
  remove("aaa", "k");
  remove("aaa", "k");  // nothing to delete
  const auto page = streams().records({*iterator(stream_arn("aaa"), IteratorType::trim_horizon), std::nullopt});
  ASSERT_TRUE(page);
  ASSERT_THAT(page->records, SizeIs(3));
  const auto& [inserted, modified, removed] = std::tie(page->records[0], page->records[1], page->records[2]);
  EXPECT_EQ(inserted.type, store::ChangeType::insert);
  EXPECT_EQ(inserted.old_image, std::nullopt);
  EXPECT_EQ(inserted.new_image, (item::Item{{"pk", "k"}, {"v", 1}}));
  EXPECT_EQ(modified.type, store::ChangeType::modify);
  EXPECT_EQ(modified.old_image, inserted.new_image);
  EXPECT_EQ(removed.type, store::ChangeType::remove);
  EXPECT_EQ(removed.old_image, modified.new_image);
  EXPECT_EQ(removed.new_image, std::nullopt);
  EXPECT_FALSE(removed.by_time_to_live);
  EXPECT_LT(inserted.sequence_number, modified.sequence_number);
  EXPECT_LT(modified.sequence_number, removed.sequence_number);
  EXPECT_TRUE(page->next_shard_iterator.has_value());
}

TEST_F(StreamOperationsTest, ReadsInPages) {
  create_table("aaa", StreamViewType::keys_only);
  for (const char* key : {"a", "b", "c"}) put("aaa", std::string(R"({"pk":{"S":")") + key + R"("}})");
  const auto first = streams().records({*iterator(stream_arn("aaa"), IteratorType::trim_horizon), 2});
  EXPECT_THAT(keys_of(first), ElementsAre("a", "b"));
  const auto second = streams().records({*first->next_shard_iterator, 2});
  EXPECT_THAT(keys_of(second), ElementsAre("c"));
  const auto third = streams().records({*second->next_shard_iterator, 2});
  EXPECT_THAT(keys_of(third), IsEmpty());
  put("aaa", R"({"pk":{"S":"d"}})");
  EXPECT_THAT(keys_of(streams().records({*third->next_shard_iterator, 2})), ElementsAre("d"));
}

TEST_F(StreamOperationsTest, APageEndsBeforeItExceedsAMegabyte) {
  create_table("aaa", StreamViewType::new_image);
  for (const char* key : {"a", "b", "c"})
    put("aaa", std::string(R"({"pk":{"S":")") + key + R"("},"v":{"S":")" + std::string(400'000, 'x') + R"("}})");
  const auto first = streams().records({*iterator(stream_arn("aaa"), IteratorType::trim_horizon), std::nullopt});
  EXPECT_THAT(keys_of(first), ElementsAre("a", "b"));
  EXPECT_THAT(keys_of(streams().records({*first->next_shard_iterator, std::nullopt})), ElementsAre("c"));
}

TEST_F(StreamOperationsTest, StartsAtOrAfterASequenceNumber) {
  create_table("aaa", StreamViewType::keys_only);
  create_table("bbb", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"a"}})");
  put("bbb", R"({"pk":{"S":"other"}})");
  put("aaa", R"({"pk":{"S":"b"}})");
  const std::string arn = stream_arn("aaa");
  const auto page = streams().records({*iterator(arn, IteratorType::trim_horizon), std::nullopt});
  const std::string first = page->records[0].sequence_number.text();
  const std::string last = page->records[1].sequence_number.text();
  EXPECT_THAT(read(iterator(arn, IteratorType::at_sequence_number, first)), ElementsAre("a", "b"));
  EXPECT_THAT(read(iterator(arn, IteratorType::after_sequence_number, first)), ElementsAre("b"));
  EXPECT_THAT(read(iterator(arn, IteratorType::at_sequence_number, last)), ElementsAre("b"));
  EXPECT_THAT(read(iterator(arn, IteratorType::after_sequence_number, last)), IsEmpty());
  const std::string start = describe(arn).shards[0].starting.text();
  EXPECT_THAT(read(iterator(arn, IteratorType::at_sequence_number, start)), ElementsAre("a", "b"));
}

TEST_F(StreamOperationsTest, RefusesBadIteratorRequests) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"a"}})");
  const std::string arn = stream_arn("aaa");
  const std::string future = shown_number(core().queue->next_sequence_number()).text();
  EXPECT_THAT(outcome_of(iterator(arn, IteratorType::latest, future)), StartsWith("ValidationException: "));
  EXPECT_THAT(outcome_of(iterator(arn, IteratorType::trim_horizon, future)), StartsWith("ValidationException: "));
  EXPECT_THAT(outcome_of(iterator(arn, IteratorType::at_sequence_number)), StartsWith("ValidationException: "));
  EXPECT_EQ(outcome_of(iterator(arn, IteratorType::at_sequence_number, "12")),
            "ValidationException: Invalid SequenceNumber");
  EXPECT_EQ(outcome_of(iterator(arn, IteratorType::after_sequence_number, future)),
            "ValidationException: Invalid SequenceNumber");
  EXPECT_EQ(outcome_of(streams().shard_iterator({arn, "shardId-none", IteratorType::latest, std::nullopt})),
            "ResourceNotFoundException: Requested resource not found: Shard does not exist");
  EXPECT_EQ(outcome_of(streams().shard_iterator({"nonsense", "shardId-none", IteratorType::latest, std::nullopt})),
            "ValidationException: Invalid StreamArn");
}

TEST_F(StreamOperationsTest, RefusesBadRecordRequests) {
  create_table("aaa", StreamViewType::keys_only);
  const std::string good = *iterator(stream_arn("aaa"), IteratorType::trim_horizon);
  EXPECT_THAT(outcome_of(streams().records({good, 0})), StartsWith("ValidationException: 1 validation error"));
  EXPECT_THAT(outcome_of(streams().records({good, 1001})), StartsWith("ValidationException: 1 validation error"));
  EXPECT_EQ(outcome_of(streams().records({good, 1000})), "ok");
  EXPECT_EQ(outcome_of(streams().records({"", std::nullopt})), "ValidationException: Invalid ShardIterator");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(outcome_of(streams().records({damaged, std::nullopt})), "ValidationException: Invalid ShardIterator");
  }
}

TEST_F(StreamOperationsTest, IteratorsExpire) {
  create_table("aaa", StreamViewType::keys_only);
  const std::string token = *iterator(stream_arn("aaa"), IteratorType::latest);
  clock().advance(minutes(15));
  const auto page = streams().records({token, std::nullopt});
  ASSERT_EQ(outcome_of(page), "ok");
  clock().advance(one_millisecond);
  EXPECT_THAT(outcome_of(streams().records({token, std::nullopt})), StartsWith("ExpiredIteratorException: "));
  EXPECT_EQ(outcome_of(streams().records({*page->next_shard_iterator, std::nullopt})), "ok");
}

TEST_F(StreamOperationsTest, LatestShowsWhatIsCommittedAfterIt) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"acknowledged"}})");
  const auto on_its_way = queue_put("aaa", R"({"pk":{"S":"queued"}})");
  const std::string token = *iterator(stream_arn("aaa"), IteratorType::latest);
  EXPECT_THAT(read(token), IsEmpty());
  ASSERT_TRUE(core().queue->wait(on_its_way));
  EXPECT_THAT(read(token), ElementsAre("queued"));
  EXPECT_THAT(read(iterator(stream_arn("aaa"), IteratorType::latest)), IsEmpty());
}

TEST_F(StreamOperationsTest, AClosedShardEndsAndItsChildGoesOn) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"a"}})");
  const std::string arn = stream_arn("aaa");
  const std::string parent = newest_shard(arn);
  roll();
  put("aaa", R"({"pk":{"S":"b"}})");
  const auto token = streams().shard_iterator({arn, parent, IteratorType::trim_horizon, std::nullopt});
  const auto page = streams().records({*token, std::nullopt});
  EXPECT_THAT(keys_of(page), ElementsAre("a"));
  EXPECT_EQ(page->next_shard_iterator, std::nullopt);
  EXPECT_THAT(read(iterator(arn, IteratorType::trim_horizon)), ElementsAre("b"));
  const auto latest = streams().shard_iterator({arn, parent, IteratorType::latest, std::nullopt});
  const auto nothing = streams().records({*latest, std::nullopt});
  EXPECT_THAT(keys_of(nothing), IsEmpty());
  EXPECT_EQ(nothing->next_shard_iterator, std::nullopt);
}

TEST_F(StreamOperationsTest, AShardIsNotDrainedWhileRecordsAreOnTheirWay) {
  create_table("aaa", StreamViewType::keys_only);
  const std::string token = *iterator(stream_arn("aaa"), IteratorType::trim_horizon);
  const auto on_its_way = queue_put("aaa", R"({"pk":{"S":"queued"}})");
  // As rolling does it, at the moment when the new shard is known and the disk has not caught up.
  {
    const KeyLocks::Guard guard = core().locks.lock_all();
    Stream stream = *stream_of("aaa");
    roll_shard(stream, core().queue->next_sequence_number(), clock().now());
    CatalogState state = *core().catalog->state();
    state.streams[stream.id] = std::make_shared<const Stream>(stream);
    core().catalog->publish(std::move(state));
  }
  const auto early = streams().records({token, std::nullopt});
  EXPECT_THAT(keys_of(early), IsEmpty());
  ASSERT_TRUE(early->next_shard_iterator.has_value());
  ASSERT_TRUE(core().queue->wait(on_its_way));
  const auto later = streams().records({*early->next_shard_iterator, std::nullopt});
  EXPECT_THAT(keys_of(later), ElementsAre("queued"));
  EXPECT_EQ(later->next_shard_iterator, std::nullopt);
}

TEST_F(StreamOperationsTest, RecordsAreShownForADay) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"old"}})");
  clock().advance(minutes(1));
  put("aaa", R"({"pk":{"S":"young"}})");
  const std::string arn = stream_arn("aaa");
  const auto all = streams().records({*iterator(arn, IteratorType::trim_horizon), std::nullopt});
  const std::string old_number = all->records[0].sequence_number.text();

  clock().advance(hours(24) - minutes(1));
  EXPECT_THAT(read(iterator(arn, IteratorType::trim_horizon)), ElementsAre("old", "young"));
  const std::string token = *iterator(arn, IteratorType::trim_horizon);
  clock().advance(one_millisecond);
  EXPECT_THAT(stored_keys(Family::streams, stream_of("aaa")->id), SizeIs(2)) << "nothing trimmed them";
  EXPECT_THAT(read(iterator(arn, IteratorType::trim_horizon)), ElementsAre("young"));
  EXPECT_THAT(read(token), ElementsAre(trimmed_error));
  EXPECT_EQ(outcome_of(iterator(arn, IteratorType::at_sequence_number, old_number)), trimmed_error);
  EXPECT_EQ(outcome_of(iterator(arn, IteratorType::after_sequence_number, old_number)), trimmed_error);
  clock().advance(minutes(1));
  EXPECT_THAT(read(iterator(arn, IteratorType::trim_horizon)), IsEmpty());
}

TEST_F(StreamOperationsTest, TrimmedRecordsAreReportedAsSuch) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"old"}})");
  const std::string arn = stream_arn("aaa");
  clock().advance(hours(23) + minutes(55));
  put("aaa", R"({"pk":{"S":"young"}})");
  const std::string token = *iterator(arn, IteratorType::trim_horizon);
  const auto all = streams().records({token, std::nullopt});
  const std::string old_number = all->records[0].sequence_number.text();
  clock().advance(minutes(10));
  ASSERT_EQ(outcome_of(StreamTrimmer(core()).run_once()), "ok");
  EXPECT_THAT(stored_keys(Family::streams, stream_of("aaa")->id), SizeIs(1));
  EXPECT_THAT(read(token), ElementsAre(trimmed_error));
  const std::string oldest = describe(arn).shards[0].id;
  for (const IteratorType type : {IteratorType::at_sequence_number, IteratorType::after_sequence_number})
    EXPECT_EQ(outcome_of(streams().shard_iterator({arn, oldest, type, old_number})), trimmed_error);
  EXPECT_THAT(read(streams().shard_iterator({arn, oldest, IteratorType::trim_horizon, std::nullopt})),
              ElementsAre("young"));
}

TEST_F(StreamOperationsTest, DisabledStreamsAndThoseOfDeletedTablesStayReadable) {
  create_table("aaa", StreamViewType::keys_only);
  create_table("bbb", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"a"}})");
  put("bbb", R"({"pk":{"S":"b"}})");
  disable_stream("aaa");
  delete_table("bbb");
  for (const auto& [table_name, key] : {std::pair("aaa", "a"), std::pair("bbb", "b")}) {
    EXPECT_EQ(describe(stream_arn(table_name)).status, store::StreamStatus::disabled);
    const auto page = streams().records({*iterator(stream_arn(table_name), IteratorType::trim_horizon), std::nullopt});
    EXPECT_THAT(keys_of(page), ElementsAre(key));
    EXPECT_EQ(page->next_shard_iterator, std::nullopt);
  }
}

TEST_F(StreamOperationsTest, IteratorsSurviveARestart) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", R"({"pk":{"S":"a"}})");
  const std::string start = *iterator(stream_arn("aaa"), IteratorType::trim_horizon);
  const std::string latest = *iterator(stream_arn("aaa"), IteratorType::latest);
  reopen();
  put("aaa", R"({"pk":{"S":"b"}})");
  EXPECT_THAT(read(start), ElementsAre("a", "b"));
  EXPECT_THAT(read(latest), ElementsAre("b"));
}

}  // namespace
}  // namespace postino::engine
