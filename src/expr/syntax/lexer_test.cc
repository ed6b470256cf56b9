#include "expr/syntax/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::expr {
namespace {

std::vector<TokenKind> kinds(std::string_view source) {
  std::vector<TokenKind> result;
  for (const Token& token : tokenize(source)) result.push_back(token.kind);
  return result;
}

using enum TokenKind;
using testing::ElementsAre;

TEST(Lexer, KnowsEveryToken) {
  EXPECT_THAT(kinds("a_1 #n :v 42 = <> < <= > >= ( ) [ ] , . + -"),
              ElementsAre(identifier, name, value, integer, equal, not_equal, less, less_equal, greater, greater_equal,
                          open_paren, close_paren, open_bracket, close_bracket, comma, dot, plus, minus, end));
}

TEST(Lexer, KnowsKeywordsInAnyCase) {
  EXPECT_THAT(kinds("AND or Not BETween in set REMOVE add Delete"),
              ElementsAre(keyword_and, keyword_or, keyword_not, keyword_between, keyword_in, keyword_set,
                          keyword_remove, keyword_add, keyword_delete, end));
  EXPECT_THAT(kinds("android inn nota"), ElementsAre(identifier, identifier, identifier, end));
}

TEST(Lexer, NeedsNoWhiteSpace) {
  EXPECT_THAT(kinds("a<=:b"), ElementsAre(identifier, less_equal, value, end));
  EXPECT_THAT(kinds("#a.b[0]"), ElementsAre(name, dot, identifier, open_bracket, integer, close_bracket, end));
}

TEST(Lexer, SkipsSpaceTabAndLineEnds) {
  EXPECT_THAT(kinds(" \ta\r\nb "), ElementsAre(identifier, identifier, end));
  EXPECT_THAT(kinds("a\fb"), ElementsAre(identifier, unknown, identifier, end));
  EXPECT_THAT(kinds(""), ElementsAre(end));
}

TEST(Lexer, PlaceholdersMayStartWithDigitsButIdentifiersMayNot) {
  EXPECT_THAT(kinds("#0 :_"), ElementsAre(name, value, end));
  EXPECT_THAT(kinds("_a"), ElementsAre(unknown, identifier, end));
  EXPECT_THAT(kinds("1a"), ElementsAre(integer, identifier, end));
  EXPECT_THAT(kinds("# :"), ElementsAre(unknown, unknown, end));
}

TEST(Lexer, IntegersHaveNoLeadingZeros) {
  EXPECT_THAT(kinds("0 10"), ElementsAre(integer, integer, end));
  EXPECT_THAT(kinds("01"), ElementsAre(integer, integer, end));
}

TEST(Lexer, AnUnknownCharacterIsWhole) {
  const auto tokens = tokenize("ü!");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[0].end, 2U);
  EXPECT_EQ(tokens[1].kind, unknown);
  EXPECT_THAT(kinds("\xFF\xC3"), ElementsAre(unknown, unknown, end));
}

struct Near {
  std::string_view source;
  std::size_t position;
  std::string_view token;
  std::string_view near;
};

class SyntaxErrorText : public testing::TestWithParam<Near> {};

TEST_P(SyntaxErrorText, QuotesTheNeighbours) {
  const auto& [source, position, token, near] = GetParam();
  EXPECT_EQ(describe_syntax_error(source, tokenize(source), position),
            "Syntax error; token: \"" + std::string(token) + "\", near: \"" + std::string(near) + "\"");
}

INSTANTIATE_TEST_SUITE_P(Lexer, SyntaxErrorText,
                         testing::Values(Near{"INVALID SYNTAX HERE", 0, "INVALID", "INVALID SYNTAX"},
                                         Near{"!!!", 0, "!", "!!"}, Near{"a = = b", 2, "=", "= = b"},
                                         Near{"f(", 2, "<EOF>", "("}, Near{"SET _123", 1, "_", "SET _123"},
                                         Near{"l[a]", 2, "a", "[a]"}, Near{"a  =\n= b", 2, "=", "=\n= b"},
                                         Near{"a b", 1, "b", "a b"}, Near{"a  ", 1, "<EOF>", "a"},
                                         Near{"a", 0, "a", "a"}, Near{"  ", 0, "<EOF>", ""}));

}  // namespace
}  // namespace postino::expr
