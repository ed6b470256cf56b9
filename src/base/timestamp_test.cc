#include "base/timestamp.h"

#include <gtest/gtest.h>

#include "base/duration_words.h"

namespace postino::base {
namespace {

std::int64_t parsed(std::string_view text) {
  const auto time = parse_timestamp(text);
  EXPECT_TRUE(time) << text;
  return time ? epoch_milliseconds(*time) : -12345;
}

TEST(Timestamp, IsWrittenInUtcToTheMillisecond) {
  EXPECT_EQ(format_timestamp(from_epoch_milliseconds(1'794'735'000'250)), "2026-11-15T09:30:00.250Z");
  EXPECT_EQ(format_timestamp(from_epoch_milliseconds(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(from_epoch_milliseconds(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_timestamp(from_epoch_milliseconds(1'709'208'000'000)), "2024-02-29T12:00:00.000Z");
  EXPECT_EQ(format_timestamp(from_epoch_milliseconds(253'402'300'799'999)), "9999-12-31T23:59:59.999Z");
}

TEST(Timestamp, TextsSortLikeMoments) {
  const std::int64_t moments[] = {-1, 0, 999, 1'000, 86'399'999, 86'400'000, 1'709'208'000'000, 253'402'300'799'999};
  for (std::size_t i = 1; i < std::size(moments); ++i)
    EXPECT_LT(format_timestamp(from_epoch_milliseconds(moments[i - 1])),
              format_timestamp(from_epoch_milliseconds(moments[i])));
}

TEST(Timestamp, DaysAreThoseOfUtc) {
  EXPECT_EQ(format_day(from_epoch_milliseconds(1'794'735'000'250)), "20261115");
  EXPECT_EQ(format_day(from_epoch_milliseconds(-1)), "19691231");
  EXPECT_EQ(end_of_day(from_epoch_milliseconds(1'794'735'000'250)), from_epoch_milliseconds(1'794'787'200'000));
  EXPECT_EQ(end_of_day(from_epoch_milliseconds(1'794'787'200'000)),
            from_epoch_milliseconds(1'794'787'200'000 + 86'400'000))
      << "midnight belongs to the day that it begins";
  EXPECT_EQ(end_of_day(from_epoch_milliseconds(-1)), from_epoch_milliseconds(0));
}

TEST(Timestamp, ReadsWhatRfc3339Allows) {
  EXPECT_EQ(parsed("2026-11-15T09:30:00.250Z"), 1'794'735'000'250);
  EXPECT_EQ(parsed("2026-11-15t09:30:00.25z"), 1'794'735'000'250);
  EXPECT_EQ(parsed("2026-11-15 09:30:00.2509999Z"), 1'794'735'000'250) << "what is beyond milliseconds is cut off";
  EXPECT_EQ(parsed("2026-11-15T10:30:00.25+01:00"), 1'794'735'000'250);
  EXPECT_EQ(parsed("2026-11-15T03:00:00.25-06:30"), 1'794'735'000'250);
  EXPECT_EQ(parsed("2024-02-29T12:00:00Z"), 1'709'208'000'000);
  EXPECT_EQ(parsed("2016-12-31T23:59:60Z"), 1'483'228'800'000) << "a leap second";
  EXPECT_EQ(parsed("1969-12-31T23:59:59.999Z"), -1);
}

TEST(Timestamp, RefusesEverythingElse) {
  for (const char* text : {"",
                           "2026",
                           "2026-11-15",
                           "2026-11-15T09:30:00",
                           "2026-11-15T09:30Z",
                           "2026-11-15T09:30:00.Z",
                           "2026-11-15T24:00:00Z",
                           "2026-11-15T09:60:00Z",
                           "2026-11-15T09:30:61Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-11-31T00:00:00Z",
                           "2026-11-15T09:30:00+24:00",
                           "2026-11-15T09:30:00+01:60",
                           "2026-11-15T09:30:00+0100",
                           "2026-11-15T09:30:00Zx",
                           " 2026-11-15T09:30:00Z",
                           "+026-11-15T09:30:00Z",
                           "2026-1-15T09:30:00Z",
                           "2026-11-15T09:30:00 Z"}) {
    const auto time = parse_timestamp(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().message, "must be an RFC 3339 date and time, such as 2026-11-15T09:30:00Z");
  }
}

TEST(Timestamp, RefusesMomentsThatFourDigitsCannotName) {
  EXPECT_TRUE(parse_timestamp("9999-12-31T23:59:59Z"));
  EXPECT_FALSE(parse_timestamp("9999-12-31T23:59:59-00:01"));
  EXPECT_TRUE(parse_timestamp("0000-01-01T00:00:00Z"));
  EXPECT_FALSE(parse_timestamp("0000-01-01T00:00:00+00:01"));
}

TEST(Timestamp, WhatIsWrittenIsReadBack) {
  for (const std::int64_t moment : {-62'167'219'200'000LL, -1LL, 0LL, 1'794'735'000'250LL, 253'402'300'799'999LL})
    EXPECT_EQ(parsed(format_timestamp(from_epoch_milliseconds(moment))), moment);
}

TEST(DurationWords, AreInTheLargestUnitWithoutRemainder) {
  using namespace std::chrono_literals;
  EXPECT_EQ(duration_in_words(168h), "7 days");
  EXPECT_EQ(duration_in_words(36h), "36 hours");
  EXPECT_EQ(duration_in_words(1min), "1 minute");
  EXPECT_EQ(duration_in_words(90s), "90 seconds");
  EXPECT_EQ(duration_in_words(1'001ms), "1001 milliseconds");
  EXPECT_EQ(duration_in_words(0ms), "0 seconds");
}

}  // namespace
}  // namespace postino::base
