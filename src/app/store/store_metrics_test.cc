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

TEST(StoreMetrics, CallsOfARemoteStoreByOperationAndTable) {
  std::string text;
  append_remote_metrics(text, {{.operation = "PutItem",
                                .table = "orders",
                                .calls = 3,
                                .attempts = 5,
                                .throttled = 1,
                                .failed = 0,
                                .read_units = 0.5,
                                .write_units = 12}});
  const std::string labels = R"({operation="PutItem",table="orders"} )";
  EXPECT_THAT(text,
              HasSubstr("# TYPE postino_store_requests_total counter\npostino_store_requests_total" + labels + "3\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_retries_total" + labels + "2\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_throttled_total" + labels + "1\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_failures_total" + labels + "0\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_read_units_total" + labels + "0.5\n"));
  EXPECT_THAT(text, HasSubstr("postino_store_write_units_total" + labels + "12\n"));
}

}  // namespace
}  // namespace postino::app
