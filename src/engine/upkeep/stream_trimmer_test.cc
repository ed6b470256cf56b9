#include "engine/upkeep/stream_trimmer.h"

#include <gmock/gmock.h>

#include "engine/core_tables_testing.h"
#include "engine/streams/stream_shards.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using store::StreamViewType;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StreamTrimmerTest : public CoreTablesTest {
 protected:
  bool run_once() {
    const auto more = trimmer_.run_once();
    EXPECT_EQ(outcome_of(more), "ok");
    return more.value_or(false);
  }
  void put_many(int first, int count) {
    std::shared_ptr<CommitEntry> last;
    for (int i = first; i < first + count; ++i)
      last = queue_put("aaa", R"({"pk":{"S":")" + std::to_string(i) + R"("}})");
    ASSERT_TRUE(core().queue->wait(last));
  }
  std::size_t records() { return stored_keys(Family::streams, stream_of("aaa")->id).size(); }

  StreamTrimmer trimmer_{core()};
};

TEST_F(StreamTrimmerTest, RemovesOldRecordsInBoundedSteps) {
  create_table("aaa", StreamViewType::keys_only);
  put_many(0, 1'500);
  clock().advance(hours(1));
  put_many(1'500, 10);
  clock().advance(hours(23) + minutes(2));
  EXPECT_TRUE(run_once());
  EXPECT_EQ(records(), 510U);
  EXPECT_FALSE(run_once());
  EXPECT_EQ(records(), 10U);
  EXPECT_FALSE(run_once());
  EXPECT_EQ(records(), 10U);
}

TEST_F(StreamTrimmerTest, KeepsWhatIsYounger) {
  create_table("aaa", StreamViewType::keys_only);
  put_many(0, 3);
  clock().advance(hours(24));
  EXPECT_FALSE(run_once());
  EXPECT_EQ(records(), 3U);
}

TEST_F(StreamTrimmerTest, OpensANewShardEveryFourHours) {
  create_table("aaa", StreamViewType::keys_only);
  put_many(0, 3);
  clock().advance(shard_life - base::Milliseconds(1));
  EXPECT_FALSE(run_once());
  EXPECT_THAT(stream_of("aaa")->shards, SizeIs(1));
  clock().advance(base::Milliseconds(1));
  EXPECT_FALSE(run_once());
  const StreamPointer stream = stream_of("aaa");
  ASSERT_THAT(stream->shards, SizeIs(2));
  const StreamShard& closed = stream->shards[0];
  const StreamShard& open = stream->shards[1];
  EXPECT_EQ(closed.end, open.first);
  EXPECT_EQ(closed.end, core().queue->next_sequence_number());
  EXPECT_EQ(closed.closed, clock().now());
  EXPECT_EQ(open.number, closed.number + 1);
  EXPECT_EQ(open.parent_created, closed.created);
  EXPECT_FALSE(open.end || open.closed);
}

TEST_F(StreamTrimmerTest, DropsShardsADayAfterTheyClosed) {
  create_table("aaa", StreamViewType::keys_only);
  put_many(0, 3);
  clock().advance(shard_life);
  run_once();
  put_many(3, 3);
  clock().advance(hours(24));
  run_once();  // the records of the first shard are too old, but it closed only a day ago
  ASSERT_THAT(stream_of("aaa")->shards, SizeIs(3));
  EXPECT_EQ(records(), 3U);
  const std::string parent = shard_id(*stream_of("aaa"), stream_of("aaa")->shards[0]);
  clock().advance(minutes(2));
  run_once();
  ASSERT_THAT(stream_of("aaa")->shards, SizeIs(2));
  EXPECT_EQ(stream_of("aaa")->shards[0].number, 1U);
  EXPECT_EQ(records(), 0U);
  EXPECT_EQ(describe_shard(*stream_of("aaa"), stream_of("aaa")->shards[0]).parent_id, parent);
}

TEST_F(StreamTrimmerTest, TheOpenShardOfAnIdleStreamStays) {
  create_table("aaa", StreamViewType::keys_only);
  for (int day = 0; day < 5; ++day) {
    clock().advance(hours(25));
    run_once();
  }
  ASSERT_THAT(stream_of("aaa")->shards, SizeIs(2));
  EXPECT_FALSE(stream_of("aaa")->shards.back().end.has_value());
}

TEST_F(StreamTrimmerTest, DropsStreamsADayAfterTheyWereDisabled) {
  create_table("aaa", StreamViewType::keys_only);
  create_table("bbb", StreamViewType::keys_only);
  put_many(0, 3);
  const ObjectId id = stream_of("aaa")->id;
  delete_table("aaa");
  clock().advance(hours(24));
  run_once();
  EXPECT_TRUE(core().catalog->state()->streams.contains(id));
  clock().advance(base::Milliseconds(1));
  run_once();
  EXPECT_FALSE(core().catalog->state()->streams.contains(id));
  EXPECT_THAT(stored_keys(Family::streams, id), IsEmpty());
  EXPECT_TRUE(stream_of("bbb")->enabled);
  reopen();
  EXPECT_FALSE(core().catalog->state()->streams.contains(id));
}

TEST_F(StreamTrimmerTest, EveryStreamGetsItsTurn) {
  constexpr int tables = 70;  // more than one round serves
  for (int i = 0; i < tables; ++i) create_table("table" + std::to_string(i), StreamViewType::keys_only);
  clock().advance(shard_life);
  EXPECT_TRUE(run_once());
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(run_once());
  for (const auto& [id, stream] : core().catalog->state()->streams) EXPECT_THAT(stream->shards, SizeIs(2));
}

TEST_F(StreamTrimmerTest, RemembersHowFarItTrimmed) {
  create_table("aaa", StreamViewType::keys_only);
  put_many(0, 2);
  const RecordNumber next = core().queue->next_sequence_number();
  clock().advance(hours(25));
  run_once();
  EXPECT_EQ(stream_of("aaa")->trimmed_until, next);
  reopen();
  EXPECT_EQ(stream_of("aaa")->trimmed_until, next);
}

}  // namespace
}  // namespace postino::engine
