#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

class InvalidUpdate : public testing::TestWithParam<Case> {};

TEST_P(InvalidUpdate, IsRefused) {
  EXPECT_EQ(update_error(GetParam().text), "Invalid UpdateExpression: " + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, InvalidUpdate,
    testing::Values(Case{"INVALID SYNTAX HERE", syntax("INVALID", "INVALID SYNTAX")}, Case{"!!!", syntax("!", "!!")},
                    Case{"SET _123", syntax("_", "SET _123")}, Case{"SET", syntax("<EOF>", "SET")},
                    Case{"set a", syntax("<EOF>", "a")}, Case{"set a=set", syntax("set", "=set")},
                    Case{"SET a = = b", syntax("=", "= = b")}, Case{"remove a = b", syntax("=", "a = b")},
                    Case{"remove a b", syntax("b", "a b")}, Case{"add a = b", syntax("=", "a = b")},
                    Case{"delete a b", syntax("b", "a b")},
                    Case{"add a if_not_exists(b, c)", syntax("if_not_exists", "a if_not_exists(")},
                    Case{"set :n = b", syntax(":n", "set :n =")}, Case{"remove :n", syntax(":n", "remove :n")},
                    Case{"set a = b / c", syntax("/", "b / c")}, Case{"set a = 1", syntax("1", "= 1")},
                    Case{"set a[1] = \"eight\"", syntax("\"", "= \"eight")},
                    Case{"SET a = if_not_exists(a, 100)", syntax("100", ", 100)")},
                    Case{"SET if_not_exists(a, b) = a", syntax("(", "if_not_exists(a")},
                    Case{"set (a = (b + c))", syntax("(", "set (a")}, Case{"set a = (b.c).d + e", syntax(".", ").d")},
                    Case{"set a = (b.c)[0] + e", syntax("[", ")[0")}, Case{"set a = b + c + d", syntax("+", "c + d")},
                    Case{"set a = (b + c) + d", syntax("+", ") + d")},
                    Case{"set a = b + (c + d)", syntax("+", "c + d")},
                    Case{"set a = if_not_exists(b, c + d)", syntax("+", "c + d")},
                    Case{"set a = b,", syntax("<EOF>", ",")}, Case{"set a = b, set c = d", syntax("set", ", set c")},
                    Case{"set a = f(", syntax("<EOF>", "(")}, Case{"set l[a] = b", syntax("a", "[a]")},
                    Case{"set a = b AND c = d", syntax("AND", "b AND c")}));

INSTANTIATE_TEST_SUITE_P(
    Words, InvalidUpdate,
    testing::Values(
        Case{"", "The expression can not be empty;"},
        Case{" set #x = :x set abOrt = true ", "Attribute name is a reserved keyword; reserved keyword: abOrt"},
        Case{" remove Absolute ", "Attribute name is a reserved keyword; reserved keyword: Absolute"},
        Case{"set a = and", "Attribute name is a reserved keyword; reserved keyword: and"},
        Case{"set #x = if_not_exist(:x) set c = d", "Invalid function name; function: if_not_exist"},
        Case{"set a = contains(b, c)", "The function is not allowed in an update expression; function: contains"},
        Case{"set a = size(b)", "The function is not allowed in an update expression; function: size"},
        Case{"set a = list_append(list_append(b, c), d)",
             "The function is not allowed to be used this way in an expression; function: list_append"},
        Case{"set a = list_append(b, (list_append(c, d)))",
             "The function is not allowed to be used this way in an expression; function: list_append"},
        Case{"set l[2147483648] = a", "List index is not within the allowable range; index: [2147483648]"},
        Case{"set a = ((b))", "The expression has redundant parentheses;"},
        Case{"set a = ((b + c))", "The expression has redundant parentheses;"},
        Case{"set a = if_not_exists(b, ((c)))", "The expression has redundant parentheses;"},
        Case{"set a = #x set c = :x", "The \"SET\" section can only be used once in an update expression;"},
        Case{"remove #x set a = b remove e", "The \"REMOVE\" section can only be used once in an update expression;"},
        Case{"add #x :n set a = b add e :n", "The \"ADD\" section can only be used once in an update expression;"},
        Case{"delete #x :n set a = b delete e :n",
             "The \"DELETE\" section can only be used once in an update expression;"}));

TEST(ParseUpdate, LimitsTheSize) {
  std::string text = "REMOVE a" + std::string(4088, ' ');
  EXPECT_EQ(update_error(text), "");
  EXPECT_EQ(update_error(text + " "),
            "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;");
}

TEST(ParseUpdate, LimitsTheOperators) {
  std::string text = "SET ";
  for (int i = 0; i < 300; ++i) text += "a" + std::to_string(i) + "=a+b,";
  text.back() = ' ';
  EXPECT_EQ(update_error(text), "");
  EXPECT_EQ(update_error(text + ", x = a - b"),
            "Invalid UpdateExpression: The expression contains too many operators; operator count: 301");
}

class ValidUpdate : public testing::TestWithParam<std::string> {};

TEST_P(ValidUpdate, IsAccepted) { EXPECT_EQ(update_error(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(ParseUpdate, ValidUpdate,
                         testing::Values("SET a = b - :n, d[1] = :s REMOVE f.g ADD h :n DELETE s :ss",
                                         "set a = (b + c)", "set a = ((b.c.d)+(e))",
                                         "SET a = if_not_exists(a, :n) + :n",
                                         "SET a = if_not_exists(a, if_not_exists(b, :n))", "SET a = list_append(:l, a)",
                                         "SET a = list_append(if_not_exists(a, :l), :l)",
                                         "SET a = if_not_exists(a, list_append(b, :l))", "remove a, b.c, d[0]",
                                         "add a :n, b :ss", "delete a :ns\n\tset b=:n", "SET contains = :n",
                                         "SET list_append = list_append(list_append, :l)", "SET #a.#b[3].x = :n"));

}  // namespace
}  // namespace postino::expr
