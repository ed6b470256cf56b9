#include "base/log.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log_file.h"
#include "base/temporary_directory.h"

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

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(Log, AFileThatWasMovedAwayIsReplacedByANewOne) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "log";
  ASSERT_TRUE(open_log(file));
  log_error("test", "first");
  std::filesystem::rename(file, folder.path() / "log.1");
  log_error("test", "second");
  ASSERT_TRUE(open_log(file));
  log_error("test", "third");
  ASSERT_TRUE(open_log(""));
  EXPECT_THAT(text_of(folder.path() / "log.1"),
              ::testing::AllOf(::testing::HasSubstr("first\n"), ::testing::EndsWith("second\n")));
  EXPECT_THAT(text_of(file), ::testing::EndsWith("error test: third\n"));
}

TEST(Log, AFileThatCannotBeWrittenChangesNothing) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(open_log(folder.path() / "log"));
  const auto opened = open_log(folder.path() / "missing" / "log");
  log_error("test", "here");
  ASSERT_TRUE(open_log(""));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("missing/log: No such file or directory"));
  EXPECT_THAT(text_of(folder.path() / "log"), ::testing::EndsWith("here\n"));
}

TEST(Log, TheLevelCanBeChanged) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(open_log(folder.path() / "log"));
  set_log_level(LogLevel::warning);
  log_info("test", "dropped");
  set_log_level(LogLevel::info);
  log_info("test", "kept");
  ASSERT_TRUE(open_log(""));
  EXPECT_THAT(text_of(folder.path() / "log"),
              ::testing::AllOf(::testing::EndsWith("kept\n"), ::testing::Not(::testing::HasSubstr("dropped"))));
}

TEST(Log, JsonEscapesWhatItMust) {
  EXPECT_EQ(format_event(LogFormat::json, LogLevel::warning, "a", "say \"b\"", {{"path", "c:\\d\te"}}),
            R"("level":"warning","component":"a","message":"say \"b\"","path":"c:\\d\u0009e")");
}

}  // namespace
}  // namespace postino::base
