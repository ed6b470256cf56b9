#include "app/console/table_text.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::EndsWith;

TEST(TableText, ColumnsAreAlignedAndNumbersOnTheRight) {
  TableText table({{"STATUS"}, {"COUNT", Align::right}, {"NOTE"}});
  table.add({"SENT", "1,200", "größer"});
  table.add({"世界", "7", ""});
  EXPECT_EQ(table.take(),
            "STATUS  COUNT  NOTE\n"
            "SENT    1,200  größer\n"
            "世界        7\n");
}

TEST(TableText, LastColumnIsCutToTheWidthOfTheTerminal) {
  TableText table({{"ID"}, {"REASON"}}, 24);
  table.add({"1", "451 greylisted, try again later"});
  table.add({"2", "exactly as long as it"});
  EXPECT_EQ(table.take(),
            "ID  REASON\n"
            "1   451 greylisted, try…\n"
            "2   exactly as long as …\n");
}

TEST(TableText, LastColumnIsNotCutToNothing) {
  TableText table({{"ID"}, {"REASON"}}, 5);
  table.add({"00000000", "451 greylisted"});
  EXPECT_THAT(table.take(), EndsWith("00000000  451 greylis…\n"));
}

TEST(TableText, PartsOfALongTableHaveOneHeadAndNeverNarrowerColumns) {
  TableText table({{"ID"}, {"NOTE"}});
  EXPECT_EQ(table.take(), "");
  table.add({"long-id", "a"});
  EXPECT_EQ(table.take(), "ID       NOTE\nlong-id  a\n");
  table.add({"x", "b"});
  EXPECT_EQ(table.take(), "x        b\n");
  EXPECT_EQ(table.take(), "");
}

}  // namespace
}  // namespace postino::app
