#include "app/console/progress_bar.h"

#include <gmock/gmock.h>

#include <sstream>

#include "app/console/terminal_text.h"

namespace postino::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProgressLine, HasABarAndFigures) {
  const std::string half = progress_line("sending", 1'000, 2'000, 60);
  EXPECT_EQ(half, "sending  [" + std::string(12, '#') + std::string(13, '.') + "]   50 %  1,000 of 2,000");
  EXPECT_EQ(display_width(half), 59) << "one column less than the terminal has";
  EXPECT_EQ(progress_line("sending", 2'000, 2'000, 60),
            "sending  [" + std::string(25, '#') + "]  100 %  2,000 of 2,000");
  EXPECT_THAT(progress_line("sending", 1'999, 2'000, 60), HasSubstr(" 99 %")) << "not done before it is done";
}

TEST(ProgressLine, GoesWithoutTheBarWhereThereIsNoRoom) {
  EXPECT_EQ(progress_line("sending", 0, 2'000, 40), "sending    0 %      0 of 2,000");
  for (int columns = 1; columns < 100; ++columns)
    EXPECT_LT(display_width(progress_line("sending", 1'000, 2'000, columns)), columns);
}

TEST(ProgressLine, CountsWhereTheEndIsNotKnown) {
  EXPECT_EQ(progress_line("reading", 1'200, {}, 60), "reading  1,200");
}

TEST(ProgressBar, WritesNothingWhereThereIsNoTerminal) {
  std::ostringstream out;
  {
    ProgressBar bar(out, std::nullopt, "sending", 10);
    bar.show(5);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressBar, LeavesAnEmptyLineBehind) {
  std::ostringstream out;
  {
    ProgressBar bar(out, 60, "sending", 10);
    bar.show(5);
    const std::string shown = out.str();
    EXPECT_THAT(shown, HasSubstr("5 of 10"));
    bar.show(5);
    EXPECT_EQ(out.str(), shown) << "what is there is not written again";
  }
  EXPECT_THAT(out.str(), EndsWith("\r\x1b[K"));
}

}  // namespace
}  // namespace postino::app
