#include "remote/calls/call_counts.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

TEST(CallCountsTest, AreByOperationAndTable) {
  CallCounts counts;
  counts.count("PutItem", "mails", [](RemoteCounts& each) { ++each.calls; });
  counts.count("PutItem", "mails", [](RemoteCounts& each) { ++each.calls; });
  counts.count("GetItem", "mails", [](RemoteCounts& each) { ++each.calls; });
  store::ConsumedCapacity mails, keys;
  mails.table_name = "mails";
  mails.total = 2.5;
  keys.table_name = "keys";
  keys.total = 1;
  counts.count_units("PutItem", {mails, keys}, true);
  counts.count_units("GetItem", {mails}, false);
  const auto all = counts.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].operation, "GetItem");
  EXPECT_DOUBLE_EQ(all[0].read_units, 2.5);
  EXPECT_EQ(all[1].table, "keys");
  EXPECT_DOUBLE_EQ(all[1].write_units, 1);
  EXPECT_EQ(all[2].calls, 2U);
  EXPECT_DOUBLE_EQ(all[2].write_units, 2.5);
}

// Writes down what it is told.
class TrafficNotes final : public store::TrafficObserver {
 public:
  std::shared_ptr<store::TrafficMeter> meter(store::TrafficSource source) override {
    return std::make_shared<Line>(*this, source.table + "/" + source.index + (source.global ? " global" : ""));
  }
  void count_stream_read() override { ++stream_reads; }

  std::vector<std::string> lines;
  int stream_reads = 0;

 private:
  class Line final : public store::TrafficMeter {
   public:
    Line(TrafficNotes& notes, std::string name) : notes_(notes), name_(std::move(name)) {}
    void count(const store::Traffic& traffic) override {
      const char* const kind = traffic.kind == store::TrafficKind::write  ? " write "
                               : traffic.kind == store::TrafficKind::scan ? " scan "
                                                                          : " read ";
      notes_.lines.push_back(name_ + kind + std::to_string(static_cast<int>(traffic.units)));
    }

   private:
    TrafficNotes& notes_;
    const std::string name_;
  };
};

TEST(CallCountsTest, AreToldToAnObserverByTableAndIndex) {
  CallCounts counts;
  counts.count_stream_read();
  const auto notes = std::make_shared<TrafficNotes>();
  counts.set_observer(notes);
  store::ConsumedCapacity consumed;
  consumed.table_name = "mails";
  consumed.total = 10;
  consumed.table = 4;
  consumed.global_indexes["ByState"] = 5;
  consumed.local_indexes["ByDay"] = 1;
  counts.count_units("PutItem", {consumed}, true);
  consumed.global_indexes.clear();
  consumed.local_indexes.clear();
  counts.count_units("Scan", {consumed}, false);
  counts.count_units("GetItem", {consumed}, false);
  counts.count_stream_read();
  EXPECT_EQ(notes->lines, (std::vector<std::string>{"mails/ByState global write 5", "mails/ByDay write 1",
                                                    "mails/ write 4", "mails/ scan 10", "mails/ read 10"}));
  EXPECT_EQ(notes->stream_reads, 1);
}

TEST(CallCountsTest, DoNotGrowWithoutEnd) {
  CallCounts counts;
  for (std::size_t i = 0; i < CallCounts::most_entries + 100; ++i)
    counts.count("PutItem", "table-" + std::to_string(i), [](RemoteCounts& each) { ++each.calls; });
  const auto all = counts.all();
  EXPECT_EQ(all.size(), CallCounts::most_entries + 1);
  std::uint64_t calls = 0;
  for (const RemoteCounts& each : all) calls += each.calls;
  EXPECT_EQ(calls, CallCounts::most_entries + 100);
}

TEST(CallCountsTest, BeyondTheLimitNoRealTableIsCharged) {
  CallCounts counts;
  const auto notes = std::make_shared<TrafficNotes>();
  counts.set_observer(notes);
  store::ConsumedCapacity consumed;
  consumed.total = 1;
  for (std::size_t i = 0; i < CallCounts::most_entries + 2; ++i) {
    consumed.table_name = "table-" + std::to_string(i);
    counts.count_units("GetItem", {consumed}, false);
  }
  ASSERT_EQ(notes->lines.size(), CallCounts::most_entries + 2);
  EXPECT_EQ(notes->lines[0], "table-0/ read 1");
  for (std::size_t i = CallCounts::most_entries; i < notes->lines.size(); ++i)
    EXPECT_EQ(notes->lines[i], "others/ read 1");
}

}  // namespace
}  // namespace postino::remote
