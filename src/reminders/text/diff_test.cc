#include "reminders/text/diff.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/random.h"

namespace postino::reminders {
namespace {

// One sign and line after the other.
std::string told(std::string_view before, std::string_view after) {
  std::string text;
  for (const DiffLine& line : diff_lines(before, after)) text += line.sign + line.line + "|";
  return text;
}

TEST(Diff, TellsWhatGoesAndWhatComes) {
  EXPECT_EQ(told("", ""), "");
  EXPECT_EQ(told("a\nb\n", "a\nb\n"), " a| b|");
  EXPECT_EQ(told("", "a\nb"), "+a|+b|");
  EXPECT_EQ(told("a\nb", ""), "-a|-b|");
  EXPECT_EQ(told("Dear Ada,\nplease pay.\nBye", "Dear Ada,\nplease pay soon.\nBye"),
            " Dear Ada,|-please pay.|+please pay soon.| Bye|");
  EXPECT_EQ(told("a\nb\nc\nd", "b\nc\nx\nd\ne"), "-a| b| c|+x| d|+e|");
}

TEST(Diff, LineEndsAreNoDifference) {
  EXPECT_EQ(told("a\r\nb\r\n", "a\nb"), " a| b|");
  EXPECT_EQ(told("a\n\nb", "a\nb"), " a|-| b|");
}

std::string text_of_signs(const std::vector<DiffLine>& diff, char other) {
  std::string text;
  for (const DiffLine& line : diff)
    if (line.sign == ' ' || line.sign == other) text += line.line + "\n";
  return text;
}

// The length of the longest common subsequence, by the table of the textbook.
std::size_t most_common(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

TEST(Diff, HasBothTextsAndAsManyCommonLinesAsThereAre) {
  base::SeededRandom random(15);
  for (int round = 0; round < 500; ++round) {
    std::string letters[2], texts[2];
    for (int side = 0; side < 2; ++side)
      for (std::uint64_t left = random.next() % 12; left > 0; --left) {
        letters[side] += static_cast<char>('a' + random.next() % 4);
        texts[side] += std::string(1, letters[side].back()) + "\n";
      }
    const auto diff = diff_lines(texts[0], texts[1]);
    EXPECT_EQ(text_of_signs(diff, '-'), texts[0]);
    EXPECT_EQ(text_of_signs(diff, '+'), texts[1]);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(diff, ' ', &DiffLine::sign)),
              most_common(letters[0], letters[1]))
        << letters[0] << " " << letters[1];
  }
}

TEST(Diff, TextsThatHaveLittleInCommonCostNoMoreThanTheirLines) {
  std::string before = "begin\n", after = "begin\n";
  for (int i = 0; i < 50'000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  const auto diff = diff_lines(before + "end", after + "end");
  ASSERT_EQ(diff.size(), 100'002U);
  EXPECT_EQ(diff[0], (DiffLine{' ', "begin"}));
  EXPECT_EQ(diff[1], (DiffLine{'-', "old 0"}));
  EXPECT_EQ(diff[50'001], (DiffLine{'+', "new 0"}));
  EXPECT_EQ(diff[100'001], (DiffLine{' ', "end"}));
}

}  // namespace
}  // namespace postino::reminders
