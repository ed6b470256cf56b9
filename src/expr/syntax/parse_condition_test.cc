#include "expr/expression_testing.h"
#include "expr/syntax/reserved_words.h"

namespace postino::expr {
namespace {

class InvalidCondition : public testing::TestWithParam<Case> {};

TEST_P(InvalidCondition, IsRefused) {
  EXPECT_EQ(condition_error(GetParam().text), "Invalid ConditionExpression: " + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, InvalidCondition,
    testing::Values(Case{"INVALID SYNTAX HERE", syntax("SYNTAX", "INVALID SYNTAX HERE")},
                    Case{"!!!", syntax("!", "!!")}, Case{"a = = b", syntax("=", "= = b")},
                    Case{"a", syntax("<EOF>", "a")}, Case{":v", syntax("<EOF>", ":v")},
                    Case{"(a)", syntax("<EOF>", ")")}, Case{"f(", syntax("<EOF>", "(")},
                    Case{"a > 4", syntax("4", "> 4")}, Case{"a >", syntax("<EOF>", ">")},
                    Case{"a = b c = d", syntax("c", "b c =")}, Case{"a = b)", syntax(")", "b)")},
                    Case{"(a = b", syntax("<EOF>", "b")}, Case{"AND", syntax("AND", "AND")},
                    Case{"a AND b = c", syntax("AND", "a AND b")}, Case{"a = b AND c", syntax("<EOF>", "c")},
                    Case{"(a = b AND c)", syntax(")", "c)")}, Case{"NOT a", syntax("<EOF>", "a")},
                    Case{"(NOT a) = b", syntax(")", "a) =")}, Case{"(a = b) = c", syntax("=", ") = c")},
                    Case{"a = b OR", syntax("<EOF>", "OR")}, Case{"a in b, c", syntax("b", "in b,")},
                    Case{"a in (b,c,)", syntax(")", ",)")}, Case{"a in ()", syntax(")", "()")},
                    Case{"a > between", syntax("between", "> between")}, Case{"a between :n", syntax("<EOF>", ":n")},
                    Case{"a between :n or :n", syntax("or", ":n or :n")}, Case{"a..b = :n", syntax(".", "..b")},
                    Case{"a.and = :n", syntax("and", ".and =")}, Case{"l[a] = :n", syntax("a", "[a]")},
                    Case{"l[:n] = :n", syntax(":n", "[:n]")}, Case{"l[01] = :n", syntax("1", "01]")},
                    Case{"l[4.5] = :n", syntax(".", "4.5")}, Case{"l[-1] = :n", syntax("-", "[-1")},
                    Case{"#$.b > a", syntax("#", "#$")}, Case{":n.a > b", syntax(".", ":n.a")},
                    Case{"size(a).b > :n", syntax(".", ").b")}, Case{"(size(a))[0] > :n", syntax("[", ")[0")},
                    Case{"b.(c) = :n", syntax("(", ".(c")}, Case{"ü > a", syntax("ü", "ü >")},
                    Case{"a = \"x\"", syntax("\"", "= \"x")}, Case{"attribute_exists()", syntax(")", "()")},
                    Case{"attribute_exists(a-b)", syntax("-", "a-b")}, Case{"a = :n + :n", syntax("+", ":n + :n")},
                    Case{" \n", syntax("<EOF>", "")}, Case{"_a = :n", syntax("_", "_a")}));

INSTANTIATE_TEST_SUITE_P(
    RedundantParentheses, InvalidCondition,
    testing::Values(Case{"((a=b))", "The expression has redundant parentheses;"},
                    Case{"a=b and a > ((c))", "The expression has redundant parentheses;"},
                    Case{"((a)) = :n", "The expression has redundant parentheses;"},
                    Case{"(a)between(((b.c)).d)and(c)", "The expression has redundant parentheses;"},
                    Case{"a > whatever((:n), ((a)))", "The expression has redundant parentheses;"},
                    Case{"a=b AND ((a=b AND a=b)) AND a=b", "The expression has redundant parentheses;"},
                    Case{"a=b OR ((a=b OR (a=b OR a=b)))", "The expression has redundant parentheses;"},
                    Case{"NOT ((a=b))", "The expression has redundant parentheses;"}));

INSTANTIATE_TEST_SUITE_P(
    Words, InvalidCondition,
    testing::Values(
        Case{"", "The expression can not be empty;"},
        Case{"size = :n", "Attribute name is a reserved keyword; reserved keyword: size"},
        Case{"a.Status = :n", "Attribute name is a reserved keyword; reserved keyword: Status"},
        Case{":n < abOrT", "Attribute name is a reserved keyword; reserved keyword: abOrT"},
        Case{"set = :n", "Attribute name is a reserved keyword; reserved keyword: set"},
        Case{"foo(a)", "Invalid function name; function: foo"},
        Case{"Size(a) > :n", "Invalid function name; function: Size"},
        Case{"exists(a)", "Invalid function name; function: exists"},
        Case{"attRIbute_exIsts((views), #a)", "Invalid function name; function: attRIbute_exIsts"},
        Case{"list_append(a, b) = :l", "The function is not allowed in a condition expression; function: list_append"},
        Case{"if_not_exists(a, b)", "The function is not allowed in a condition expression; function: if_not_exists"},
        Case{"l[2147483648] = :n", "List index is not within the allowable range; index: [2147483648]"},
        Case{"l[99999999999999999999] = :n",
             "List index is not within the allowable range; index: [99999999999999999999]"}));

std::string misused(std::string_view function) {
  return "The function is not allowed to be used this way in an expression; function: " + std::string(function);
}

INSTANTIATE_TEST_SUITE_P(MisplacedFunctions, InvalidCondition,
                         testing::Values(Case{"size(a)", misused("size")}, Case{"NOT size(a)", misused("size")},
                                         Case{"a = :n AND (size(a))", misused("size")},
                                         Case{"a=b and attribute_exists((views), (#a)) > b",
                                              misused("attribute_exists")},
                                         Case{"attribute_not_exists(c) > b", misused("attribute_not_exists")},
                                         Case{"(contains(:s, c)) = b", misused("contains")},
                                         Case{"size(contains(a, b)) > a", misused("contains")},
                                         Case{"a between b and attribute_exists(c)", misused("attribute_exists")},
                                         Case{"a in (b, begins_with(c, :s))", misused("begins_with")}));

// The fault that comes first in the source is reported, whichever it is; but parentheses before them all.
INSTANTIATE_TEST_SUITE_P(Order, InvalidCondition,
                         testing::Values(Case{"status = :undefined OR foo(a)",
                                              "Attribute name is a reserved keyword; reserved keyword: status"},
                                         Case{"foo(status)", "Invalid function name; function: foo"},
                                         Case{"foo(a) OR status = ((b))", "The expression has redundant parentheses;"},
                                         Case{"status = ((b)) !", syntax("!", ") !")}));

std::string repeated_between(std::string_view part, int count, std::string_view separator) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : separator).append(part);
  return text;
}

TEST(ParseCondition, LimitsTheSize) {
  std::string text = "a = :n" + std::string(4090, ' ');
  EXPECT_EQ(condition_error(text), "");
  text += ' ';
  EXPECT_EQ(condition_error(text, samples(), Kind::filter),
            "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: 4097");
}

TEST(ParseCondition, LimitsTheOperators) {
  EXPECT_EQ(condition_error(repeated_between("a=:n", 150, " OR ")), "");
  EXPECT_EQ(condition_error(repeated_between("a=:n", 150, " OR ") + " OR NOT b=:n"),
            "Invalid ConditionExpression: The expression contains too many operators; operator count: 302");
  EXPECT_EQ(condition_error("NOT " + repeated_between("a IN (:n)", 150, " OR ")), "")
      << "149 OR, 150 IN and one NOT make 300";
  EXPECT_EQ(condition_error("NOT NOT " + repeated_between("a IN (:n)", 150, " OR ")),
            "Invalid ConditionExpression: The expression contains too many operators; operator count: 301");
  EXPECT_EQ(condition_error(repeated_between("contains(a,:n)", 200, " OR ")), "") << "functions are no operators";
}

TEST(ParseCondition, CountsBetweenOnce) {
  EXPECT_EQ(condition_error("NOT " + repeated_between("a BETWEEN :n AND :n", 150, " OR ")), "");
}

TEST(ParseCondition, LimitsTheOperandsOfIn) {
  EXPECT_EQ(condition_error("a IN (" + repeated_between(":n", 100, ",") + ")"), "");
  EXPECT_EQ(condition_error("a IN (" + repeated_between(":n", 101, ",") + ")"),
            "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101");
}

TEST(ParseCondition, LimitsTheDepthOfPaths) {
  EXPECT_EQ(condition_error(repeated_between("a", 32, ".") + " = :n"), "");
  EXPECT_EQ(condition_error(repeated_between("a", 33, ".") + " = :n"),
            "Invalid ConditionExpression: The document path has too many nesting levels; nesting levels: 33");
  EXPECT_EQ(condition_error("a" + repeated_between("[0]", 32, "") + " = :n"),
            "Invalid ConditionExpression: The document path has too many nesting levels; nesting levels: 33");
}

TEST(ParseCondition, NamesItsKind) {
  EXPECT_EQ(condition_error("", {}, Kind::filter), "Invalid FilterExpression: The expression can not be empty;");
  EXPECT_EQ(condition_error("", {}, Kind::key_condition),
            "Invalid KeyConditionExpression: The expression can not be empty;");
}

class ValidCondition : public testing::TestWithParam<std::string> {};

TEST_P(ValidCondition, IsAccepted) { EXPECT_EQ(condition_error(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(ParseCondition, ValidCondition,
                         testing::Values("a = :n", "(a) = :n", "(a) = (:n)", "a=:n", "a\n=\r\n\t:n",
                                         "NOT a = :n AND b = :n", "not not a = :n", "NOT (a = :n)", "(a = :n)",
                                         "((a = :n) OR (b = :n))", "a IN (:n)", "a in (:n, b, size(c))",
                                         "a BETWEEN :n AND :n AND b = :n", "(a)between(:n)and(:n)", "#a.#b[3].x = :n",
                                         "a[2147483647] = :n", "size (a) > :n", "(size(a)) > :n", "size(:s) > :n",
                                         "remove = :n", "contains = :n", "contains(contains, :s)",
                                         "begins_with(a, :s) and attribute_exists(b)", "(a.b).c = :n", "(a)[0] = :n",
                                         ":n = a", ":n = :n", "a IN ((:n), (b))", "(((a = :n) AND b = :n) OR c = :n)"));

TEST(ReservedWords, AreMatchedInAnyCase) {
  EXPECT_TRUE(is_reserved_word("ABORT"));
  EXPECT_TRUE(is_reserved_word("zone"));
  EXPECT_TRUE(is_reserved_word("Name"));
  EXPECT_FALSE(is_reserved_word("nam"));
  EXPECT_FALSE(is_reserved_word(""));
  EXPECT_FALSE(is_reserved_word(std::string(300, 'A')));
}

}  // namespace
}  // namespace postino::expr
