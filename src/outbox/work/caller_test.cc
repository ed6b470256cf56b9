#include "outbox/work/caller.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

using base::Milliseconds;
using std::chrono::seconds;

constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

TEST(RetryAfter, IsANumberOfSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", start), Milliseconds(0));
  EXPECT_EQ(parse_retry_after("120", start), seconds(120));
  EXPECT_EQ(parse_retry_after("99999999999", start), seconds(1'000'000));
  // The example of RFC 9110, 30 seconds after one of ours.
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", base::from_epoch_milliseconds(784'111'747'000)),
            seconds(30));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", start), Milliseconds(0)) << "that is over";
  for (const char* text : {"", "-1", "+5", "5s", "1.5", "5 6", "soon", "Sun, 06 Nov 1994 08:49:37 PST",
                           "Sun, 06 Nov 1994 08:49:37 GMT+1", "999999999999999999999999"})
    EXPECT_EQ(parse_retry_after(text, start), std::nullopt) << text;
}

}  // namespace
}  // namespace postino::outbox
