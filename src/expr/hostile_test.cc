// Input from those who mean no good: it may be refused with any message, but it must be refused, and quickly.
#include <random>

#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(Hostile, UnclosedParentheses) {
  EXPECT_EQ(condition_error(repeated("(", 4096)),
            "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
  EXPECT_EQ(update_error("SET a=" + repeated("(", 4090)),
            "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
  EXPECT_NE(projection_error(repeated("(", 4096)), "");
}

TEST(Hostile, DeepNesting) {
  EXPECT_EQ(condition_error(repeated("(", 2040) + "a = b" + repeated(")", 2040)),
            "Invalid ConditionExpression: The expression has redundant parentheses;");
  EXPECT_EQ(condition_error("a = " + repeated("(", 2040) + "b" + repeated(")", 2040)),
            "Invalid ConditionExpression: The expression has redundant parentheses;");
  EXPECT_EQ(update_error("SET a = " + repeated("(", 2040) + "b" + repeated(")", 2040)),
            "Invalid UpdateExpression: The expression has redundant parentheses;");
  EXPECT_NE(condition_error(repeated("NOT ", 1000) + "a = b"), "");
  EXPECT_NE(condition_error(repeated("NOT(", 800) + "a = b" + repeated(")", 800)), "");
  EXPECT_NE(condition_error(repeated("size(", 600) + "a" + repeated(")", 600) + " = b"), "");
  EXPECT_NE(update_error("SET a = " + repeated("f(", 1300) + "a" + repeated(")", 1300)), "");
  EXPECT_NE(projection_error("a" + repeated(".a", 2040)), "");
  EXPECT_NE(condition_error("a" + repeated("[0]", 1300) + " = b"), "");
}

TEST(Hostile, EverythingValidFits) {
  // Each level needs an operator, of which there may be 300.
  const std::string deep = repeated("(", 299) + "a=b" + repeated(" OR a=b)", 149);
  EXPECT_EQ(condition_error("NOT (" + repeated("NOT (", 298) + "a = b" + repeated(")", 299)), "");
  EXPECT_EQ(condition_error(repeated("(", 149) + "a=b" + repeated(" OR a=b)", 149)), "");
  EXPECT_NE(condition_error(deep), "");
}

constexpr std::string_view valid_conditions[] = {"a = :n", "#a.b[0] <> :n AND (NOT c IN (:n, :s) OR size(d) >= :n)",
                                                 "a BETWEEN :n AND :n", "attribute_exists(a) AND begins_with(b, :s)"};
constexpr std::string_view valid_updates[] = {"SET a = if_not_exists(a, :n) + :n, b[1].c = list_append(b, :l)",
                                              "REMOVE a, b.c[2] ADD d :n DELETE e :ss"};

TEST(Hostile, TruncationsAreNeverMisread) {
  for (const std::string_view text : valid_conditions)
    for (std::size_t length = 0; length < text.size(); ++length) {
      const std::string error = condition_error(text.substr(0, length));
      if (error.empty()) {
        EXPECT_TRUE(text[length] == ' ' || text[length - 1] == ' ') << text.substr(0, length);
      } else {
        EXPECT_THAT(error, testing::StartsWith("Invalid ConditionExpression: "));
      }
    }
  for (const std::string_view text : valid_updates)
    for (std::size_t length = 0; length < text.size(); ++length) update_error(text.substr(0, length));
}

TEST(Hostile, ATruncatedConditionIsASyntaxError) {
  const std::string_view text = "attribute_exists(a.b[10]) AND (#a IN (:n , :s ) )";
  for (std::size_t length = 1; length < text.size(); ++length) {
    const std::string_view part = text.substr(0, length);
    if (part.starts_with("attribute_exists(a.b[10])") && part.find('A') == std::string_view::npos) continue;
    EXPECT_THAT(condition_error(part), testing::HasSubstr("Syntax error; token: ")) << part;
  }
}

TEST(Hostile, BinaryGarbage) {
  std::mt19937 random(7);
  const Placeholders placeholders = samples();
  for (int round = 0; round < 2000; ++round) {
    std::string text(1 + random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_NE(condition_error(text, placeholders), "");
    EXPECT_NE(update_error(text, placeholders), "");
    projection_error(text, placeholders);
  }
}

TEST(Hostile, ShuffledTokens) {
  static constexpr std::string_view tokens[] = {"a",
                                                "#a",
                                                ":n",
                                                ":s",
                                                "(",
                                                ")",
                                                "[",
                                                "]",
                                                ".",
                                                ",",
                                                "=",
                                                "<>",
                                                "<",
                                                "AND",
                                                "OR",
                                                "NOT",
                                                "IN",
                                                "BETWEEN",
                                                "0",
                                                "+",
                                                "SET",
                                                "ADD",
                                                "-",
                                                "!",
                                                "REMOVE",
                                                "size",
                                                "contains",
                                                "b[0]",
                                                "list_append",
                                                "if_not_exists",
                                                "attribute_exists(",
                                                "DELETE"};
  std::mt19937 random(11);
  const item::Map item = {{"a", 1}, {"b", item::List{1}}};
  const Placeholders placeholders = samples();
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 12; i > 0; --i) text.append(tokens[random() % std::size(tokens)]).append(" ");
    if (const auto condition = parse_condition(text, Kind::filter)) {
      Binder binder(placeholders);
      if (const auto bound = binder.bind(*condition)) (void)bound->matches(item);
      (void)binder.bind_key_condition(*condition);
    }
    if (const auto parsed = parse_update("SET " + text)) {
      Binder binder(placeholders);
      if (const auto bound = binder.bind(*parsed)) (void)bound->apply(item);
    }
  }
}

TEST(Hostile, ManyPathsAndPlaceholders) {
  std::string text = "REMOVE a";
  while (text.size() < 4000) text += ",a" + std::to_string(text.size());
  EXPECT_EQ(update_error(text), "");
  std::string values = "a IN (:n";
  Placeholders placeholders = samples();
  for (int i = 0; i < 99; ++i) {
    values += ",:v" + std::to_string(i);
    placeholders.values->set(":v" + std::to_string(i), i);
  }
  EXPECT_TRUE(matches(values + ")", {{"a", 98}}, placeholders));
}

}  // namespace
}  // namespace postino::expr
