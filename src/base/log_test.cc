#include "base/log.h"

#include <gtest/gtest.h>

namespace postino::base {
namespace {

TEST(Log, TextHasOneLineWithFieldsAfterTheMessage) {
  EXPECT_EQ(format_event(LogFormat::text, LogLevel::info, "serve", "listening", {{"address", "127.0.0.1:8000"}}),
            "info serve: listening address=127.0.0.1:8000");
}

TEST(Log, ValuesThatCouldBeMistakenAreQuoted) {
  EXPECT_EQ(format_event(LogFormat::text, LogLevel::error, "a", "b\nc", {{"x", "1 y=2"}, {"z", "\"\n"}, {"e", ""}}),
            "error a: b c x=\"1 y=2\" z=\"\\\"\\u000a\" e=\"\"");
}

TEST(Log, JsonEscapesWhatItMust) {
  EXPECT_EQ(format_event(LogFormat::json, LogLevel::warning, "a", "say \"b\"", {{"path", "c:\\d\te"}}),
            R"("level":"warning","component":"a","message":"say \"b\"","path":"c:\\d\u0009e")");
}

}  // namespace
}  // namespace postino::base
