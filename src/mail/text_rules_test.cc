#include "mail/text_rules.h"

#include <gtest/gtest.h>

namespace postino::mail {
namespace {

TEST(FoldedText, IsTheSameForWhatPeopleTakeForTheSame) {
  EXPECT_EQ(folded("Anna"), folded("anna "));
  EXPECT_EQ(folded("\tANNA"), folded("anna"));
  EXPECT_EQ(folded("ÄNNE"), folded("änne"));
  EXPECT_EQ(folded("A\u0308nne"), folded("Änne")) << "a letter and its accent";
  EXPECT_EQ(folded("ΣΊΣΥΦΟΣ"), folded("σίσυφος"));
  EXPECT_EQ(folded("Anna\u00A0"), folded("anna")) << "a blank that does not break";
  EXPECT_EQ(folded("An\u200Bna"), folded("Anna")) << "a blank without width";
  EXPECT_EQ(folded("\uFEFFAnna\u2060\u00AD"), folded("Anna"));
  EXPECT_EQ(folded("Anna\u3164"), folded("Anna")) << "a filler of Hangul";
  EXPECT_EQ(folded("\U000E0041Anna"), folded("Anna")) << "a tag";
  EXPECT_EQ(folded("A\u200D\u0308nne"), folded("Änne")) << "between a letter and its accent";
  EXPECT_EQ(folded("Anna  B"), folded("Anna\u2003B"));
  EXPECT_EQ(folded("Anna\u2800"), folded("Anna")) << "an empty sign of Braille";
  EXPECT_EQ(folded("\u200B"), "");
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("  "), "");
}

TEST(FoldedText, TellsOthersApart) {
  EXPECT_NE(folded("Anna"), folded("Anne"));
  EXPECT_NE(folded("Anna B"), folded("AnnaB"));
  EXPECT_NE(folded("a"), folded("ä"));
  EXPECT_EQ(folded("\xFF "), "\xFF") << "no UTF-8";
}

}  // namespace
}  // namespace postino::mail
