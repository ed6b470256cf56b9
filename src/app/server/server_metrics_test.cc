#include "app/server/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/server/program_pages.h"

namespace postino::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr http::ServerCounts dynamodb_counts{
    .connections = 1, .accepted = 2, .refused = 3, .timed_out = 4, .too_slow = 5, .malformed = 6, .overloaded = 7};
constexpr http::ServerCounts rest_counts{.connections = 11,
                                         .accepted = 12,
                                         .refused = 13,
                                         .timed_out = 14,
                                         .too_slow = 15,
                                         .malformed = 16,
                                         .overloaded = 17};

TEST(ServerMetrics, EachMetricHasOneSamplePerServer) {
  std::string text;
  append_server_metrics(text, {{"dynamodb", dynamodb_counts}, {"rest", rest_counts}});
  EXPECT_THAT(text, StartsWith("# HELP postino_http_connections Open connections, by server.\n"
                               "# TYPE postino_http_connections gauge\n"
                               "postino_http_connections{server=\"dynamodb\"} 1\n"
                               "postino_http_connections{server=\"rest\"} 11\n"
                               "# HELP postino_http_connections_accepted_total "));
  int number = 2;
  for (const std::string name :
       {"connections_accepted", "connections_refused", "timeouts", "slow_readers", "malformed", "overloaded"}) {
    const std::string metric = "postino_http_" + name + "_total";
    EXPECT_THAT(text, HasSubstr("\n# TYPE " + metric + " counter\n" +                                //
                                metric + "{server=\"dynamodb\"} " + std::to_string(number) + "\n" +  //
                                metric + "{server=\"rest\"} " + std::to_string(10 + number) + "\n"));
    ++number;
  }
}

TEST(ServerMetrics, AServerThatDoesNotListenHasNoSample) {
  std::string text;
  append_server_metrics(text, {{"dynamodb", dynamodb_counts}});
  EXPECT_THAT(text, HasSubstr("postino_http_connections{server=\"dynamodb\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("rest")));
}

// Kilobytes of files that are mapped and in memory.
long file_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssFile:")) return std::stol(line.substr(8));
  return 0;
}

TEST(ProgramPages, AreGivenBackAndComeWhenTheyAreNeeded) {
  const long before = file_kilobytes();
  give_back_program_pages();
  const long after = file_kilobytes();
  EXPECT_GT(after, 0) << "this test goes on";
  EXPECT_LT(after, before * 3 / 4);
}

}  // namespace
}  // namespace postino::app
