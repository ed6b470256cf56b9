// Counting where a stream is followed shard by shard, and comes behind its table.
#include <algorithm>

#include "remote/streams/sharded_store_testing.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;

// A store whose streams have what is written only when they are told to catch up, or when somebody waits.
class LateStore final : public store::ForwardingStore {
 public:
  explicit LateStore(SupportDesk& desk) : ForwardingStore(desk.engine()), desk_(desk) {}

  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest& request) override {
    TRY(store::GetRecordsResponse page, inner().get_records(request));
    // Those that are too young come with a later page.
    const auto young = std::ranges::find_if(
        page.records, [&](const store::StreamRecord& record) { return record.time + lag > desk_.now(); });
    if (young == page.records.end()) return page;
    ++held_back;
    page.records.erase(young, page.records.end());
    if (page.records.empty()) {
      page.next_shard_iterator = request.shard_iterator;
      return page;
    }
    store::GetRecordsRequest shorter = request;
    shorter.limit = static_cast<int>(page.records.size());
    return inner().get_records(shorter);
  }

  base::Milliseconds lag{0};
  int held_back = 0;

 private:
  SupportDesk& desk_;
};

class ShardedCountingTest : public ::testing::Test {
 protected:
  SupportDesk desk_;
  LateStore late_{desk_};
  remote::ShardedStore store_{late_, desk_.time()};
  base::SeededRandom random_{7};
};

TEST_F(ShardedCountingTest, GoesOnAcrossShardsAndProcesses) {
  for (int round = 0; round < 3; ++round) {
    CountingProcess process(desk_, store_, "one");
    for (int step = 0; step < 3; ++step) {
      for (int i = 0; i < 20; ++i) change_something(desk_.engine(), random_, desk_.now(), 10);
      process.count_all();
      desk_.expect_right();
      desk_.pass(6h);
    }
    EXPECT_EQ(process.follower.counts().begun, round == 0 ? 1U : 0U);
  }
}

// The form of the checkpoint: other programs see it.
TEST_F(ShardedCountingTest, TheCheckpointHasThePositionOfEachShard) {
  CountingProcess process(desk_, store_, "one");
  process.count_all();
  desk_.put(ticket_item("a", "NEW", desk_.now()));
  process.count_all();
  const auto stream = desk_.engine().describe_table(tickets_table)->latest_stream_arn.value();
  store::DescribeStreamRequest request;
  request.stream_arn = stream;
  const auto shards = desk_.engine().describe_stream(request)->shards;
  const auto last = desk_.engine().subscribe(tickets_table, std::nullopt).value()->next(1'000, 0ms)->back();
  for (const item::Item& item : desk_.scan(metrics_table))
    if (item.contains("version")) {
      EXPECT_EQ(*item.find("shards"), item::AttributeValue(item::Map{{shards.back().id, last.sequence_number.text()}}));
      EXPECT_EQ(*item.find("stream"), item::AttributeValue(stream));
      EXPECT_FALSE(item.contains("position"));
    }
}

TEST_F(ShardedCountingTest, ACommitMovesTheCheckpointInEachShard) {
  const auto record = [](const char* number, const char* shard) {
    store::StreamRecord record;
    record.sequence_number = store::SequenceNumber::parse(number).value();
    record.shard = std::make_shared<const std::string>(shard);
    return record;
  };
  const CheckpointKeeper keeper(store_, following_at_once("one").keeper, desk_.clock(), desk_.retry());
  Checkpoint moved =
      keeper.moved_behind(std::vector{record("10", "a"), record("20", "b"), record("11", "a"), record("5", "c")});
  moved.version = 1;
  EXPECT_EQ(read_checkpoint(checkpoint_item("tickets", moved))->place, moved.place) << "its form has all of them";
  EXPECT_EQ(moved.place.positions.size(), 3U);
  EXPECT_EQ(moved.place.positions.at("a").text(), "11");
  EXPECT_EQ(moved.place.positions.at("b").text(), "20");
  EXPECT_EQ(moved.place.positions.at("c").text(), "5");
}

TEST_F(ShardedCountingTest, ChangesThatAreGoneMakeItCountAnew) {
  {
    CountingProcess process(desk_, store_, "one");
    desk_.put(ticket_item("a", "NEW", desk_.now()));
    process.count_all();
  }
  desk_.put(ticket_item("b", "NEW", desk_.now()));
  desk_.pass(30h);
  CountingProcess process(desk_, store_, "one");
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  desk_.expect_right();
}

// What a page of the table shows is in the stream some seconds later.
TEST_F(ShardedCountingTest, CountsAnewAlthoughTheStreamComesBehindTheTable) {
  late_.lag = 3s;
  for (int i = 0; i < 300; ++i) {
    change_something(desk_.engine(), random_, desk_.now(), 40);
    desk_.time().advance(20ms);
  }
  CountingProcess process(desk_, store_, "one", {.page = 5, .waiting_pages = 4});
  EXPECT_EQ(process.follower.run_once(), Follower::Round::waiting) << process.follower.problem();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  EXPECT_GT(late_.held_back, 0);
  desk_.expect_right();
  for (int i = 0; i < 50; ++i) change_something(desk_.engine(), random_, desk_.now(), 40);
  desk_.time().advance(5s);
  process.count_all();
  desk_.expect_right();
}

}  // namespace
}  // namespace postino::metrics
