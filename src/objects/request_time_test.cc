#include "objects/request_time.h"

#include <gtest/gtest.h>

#include <thread>

namespace postino::objects {
namespace {

using std::chrono::minutes;

TEST(RequestTime, IsSharedByAllCallsOfARequest) {
  net::Deadline first;
  {
    const RequestTime request;
    first = RequestTime::end_of_call(minutes(1));
    EXPECT_EQ(RequestTime::end_of_call(minutes(2)), first);
    EXPECT_LT(RequestTime::end_of_call(minutes(0)), first) << "a shorter one is shorter";
    const net::Deadline before = net::deadline_in(minutes(1));
    std::thread([&] { EXPECT_GE(RequestTime::end_of_call(minutes(1)), before); }).join();
  }
  EXPECT_GT(RequestTime::end_of_call(minutes(2)), first) << "the next request has its own";
}

}  // namespace
}  // namespace postino::objects
