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

}  // namespace
}  // namespace postino::remote
