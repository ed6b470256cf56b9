#include "wire/fault_injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/protocol/operation.h"

namespace postino::wire {
namespace {

std::string error_of(const FaultInjector& injector, const std::string& target) {
  const auto reply = injector.choose(*find_operation(target));
  return reply ? reply->error : "";
}

TEST(FaultInjection, ThrottledOperationsHearWhatRanOut) {
  const FaultInjector injector({.throttle = 1});
  for (const char* const name : {"GetItem", "PutItem", "Query", "BatchWriteItem", "ExecuteStatement"})
    EXPECT_EQ(error_of(injector, std::string("DynamoDB_20120810.") + name), "ProvisionedThroughputExceededException");
  for (const char* const name :
       {"CreateTable", "ListTables", "DescribeTimeToLive", "UpdateTimeToLive", "UpdateContinuousBackups", "TagResource",
        "ListTagsOfResource", "DescribeLimits", "DescribeEndpoints"})
    EXPECT_EQ(error_of(injector, std::string("DynamoDB_20120810.") + name), "ThrottlingException") << name;
  EXPECT_EQ(error_of(injector, "DynamoDBStreams_20120810.GetRecords"), "ProvisionedThroughputExceededException");
  for (const char* const name : {"DescribeStream", "ListStreams"})
    EXPECT_EQ(error_of(injector, std::string("DynamoDBStreams_20120810.") + name), "ThrottlingException") << name;
}

TEST(FaultInjection, NothingHappensUnlessItIsAskedFor) {
  const FaultInjector injector({});
  EXPECT_FALSE(injector.active());
  EXPECT_EQ(error_of(injector, "DynamoDB_20120810.GetItem"), "");
}

}  // namespace
}  // namespace postino::wire
