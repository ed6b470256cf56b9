#include "app/console/terminal_text.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

TEST(TerminalText, ForeignTextCannotControlTheTerminal) {
  EXPECT_EQ(printable("550 \x1b[2Jno\r\nsuch user\x07"), "550  [2Jno  such user ");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            " 31m")
      << "a control sequence introducer of one character";
  EXPECT_EQ(printable("bill\xe2\x80\xaegpj.exe"), "bill gpj.exe") << "the direction of writing";
  EXPECT_EQ(printable("caf\xe9"), "caf?") << "not UTF-8";
  EXPECT_EQ(printable("Grüße, 世界"), "Grüße, 世界");
}

TEST(TerminalText, LinesAndTabsOfALongerTextStay) {
  EXPECT_EQ(printable_lines("a\tb\r\n\x1b[1mc\n\nd"), "a\tb\n [1mc\n\nd");
  EXPECT_EQ(printable_lines("a\rb\n"), "a b\n") << "a line must not be written over";
}

TEST(TerminalText, WidthIsThatOnTheScreen) {
  EXPECT_EQ(display_width("Grüße"), 5);
  EXPECT_EQ(display_width("世界"), 4);
  EXPECT_EQ(display_width("e\xcc\x81"), 1) << "with a combining accent";
  EXPECT_EQ(display_width("📮"), 2);
}

TEST(TerminalText, ShortenedTextEndsInAnEllipsisAndFits) {
  EXPECT_EQ(shortened("mailbox full", 12), "mailbox full");
  EXPECT_EQ(shortened("mailbox full", 8), "mailbox…");
  EXPECT_EQ(shortened("世界世界", 5), "世界…");
  EXPECT_EQ(shortened("世界世界", 4), "世…") << "half a character is none";
  EXPECT_EQ(shortened("mailbox", 0), "");
}

TEST(TerminalText, NumbersAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(12'345'678), "12,345,678");
  EXPECT_EQ(grouped(-1'000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(counted(1, "e-mail"), "1 e-mail");
  EXPECT_EQ(counted(2'000, "e-mail"), "2,000 e-mails");
}

TEST(TerminalText, OfSeveralTheFirstIsShownAndTheOthersCounted) {
  EXPECT_EQ(first_and_others({}), "");
  EXPECT_EQ(first_and_others({"ada@example.org"}), "ada@example.org");
  EXPECT_EQ(first_and_others({"ada@example.org", "b", "c"}), "ada@example.org +2");
}

}  // namespace
}  // namespace postino::app
