#include "app/store/store_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::app {
namespace {

using testing::HasSubstr;

TEST(StoreMetrics, WhatTheStoreHasWritten) {
  std::string text;
  append_store_metrics(text, {}, {.commits = 3, .keys = 40, .bytes = 500});
  EXPECT_THAT(text, HasSubstr("\npostino_store_commits_total 3\n"));
  EXPECT_THAT(text, HasSubstr("\npostino_store_keys_written_total 40\n"));
  EXPECT_THAT(text, HasSubstr("\npostino_store_log_bytes_total 500\n"));
}

TEST(StoreMetrics, CallsOfARemoteStoreByOperationServiceAndTable) {
  std::string text;
  append_remote_metrics(text,
                        {{.operation = "PutItem",
                          .table = "orders",
                          .calls = 3,
                          .attempts = 5,
                          .throttled = 1,
                          .failed = 0,
                          .refused_writes = 2,
                          .read_units = 0.5,
                          .write_units = 12}},
                        {{"orders", {"outbox", {}}}}, capacity::built_in_prices());
  const std::string labels = R"({operation="PutItem",service="outbox",table="orders"} )";
  EXPECT_THAT(text,
              HasSubstr("# TYPE postino_store_requests_total counter\npostino_store_requests_total" + labels + "3\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_retries_total" + labels + "2\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_throttled_total" + labels + "1\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_failures_total" + labels + "0\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_refused_writes_total" + labels + "2\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_read_units_total" + labels + "0.5\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_write_units_total" + labels + "12\n"));
}

// With prices that are easy: reads 1 dollar, writes 2 dollars for a million.
TEST(StoreMetrics, CostsByServiceAndOperation) {
  capacity::PriceBook prices = capacity::built_in_prices();
  prices.standard.on_demand_read_million = 1;
  prices.standard.on_demand_write_million = 2;
  prices.stream_reads_100000 = 4;
  const std::map<std::string, TableUse, std::less<>> uses = {{"emails", {"outbox", {}}}, {"spool", {"outbox", {}}}};
  const std::vector<remote::RemoteCounts> counts = {
      {.operation = "PutItem", .table = "emails", .write_units = 1'000'000},
      {.operation = "PutItem", .table = "spool", .write_units = 500'000},
      {.operation = "Query", .table = "orders", .read_units = 250'000},
      {.operation = "GetRecords", .table = "emails", .attempts = 50'000}};
  std::string text;
  append_remote_metrics(text, counts, uses, prices);
  const std::string name = "\npostino_store_cost_dollars_total";
  EXPECT_THAT(text, HasSubstr(name + R"({service="outbox",operation="PutItem"} 3)" + "\n"));
  EXPECT_THAT(text, HasSubstr(name + R"({service="other",operation="Query"} 0.25)" + "\n"));
  EXPECT_THAT(text, HasSubstr(name + R"({service="outbox",operation="GetRecords"} 2)" + "\n"));
  prices.currency = "EUR";
  std::string in_euros;
  append_remote_metrics(in_euros, counts, uses, prices);
  EXPECT_THAT(in_euros, testing::Not(HasSubstr("dollars")));
}

}  // namespace
}  // namespace postino::app
