#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

constexpr std::string_view example_json =
    R"({"a":{"S":"x"},"b":{"M":{"a":{"N":"1"},"b":{"N":"2"},"c":{"L":[{"S":"p"},{"S":"q"}]}}},)"
    R"("c":{"L":[{"M":{"a":{"N":"1"},"b":{"N":"2"}}},{"S":"one"},{"S":"two"},{"L":[{"N":"7"},{"N":"8"}]}]}})";

class Projected : public testing::TestWithParam<Case> {};

TEST_P(Projected, KeepsThePaths) {
  EXPECT_EQ(item::to_json(project(GetParam().text, item_of(example_json))),
            item::to_json(item_of(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    Projection, Projected,
    testing::Values(Case{"a", R"({"a":{"S":"x"}})"}, Case{"x", "{}"}, Case{"x, y.z, a.b, b[0], c.d", "{}"},
                    Case{"a[0], c[9]", "{}"}, Case{"x, #a", R"({"a":{"S":"x"}})"},
                    Case{"c[0].x, b.c[7], a", R"({"a":{"S":"x"}})"}, Case{"b.b", R"({"b":{"M":{"b":{"N":"2"}}}})"},
                    Case{"b.#b, b.a", R"({"b":{"M":{"a":{"N":"1"},"b":{"N":"2"}}}})"},
                    Case{"c[2], c[1]", R"({"c":{"L":[{"S":"one"},{"S":"two"}]}})"},
                    Case{"c[10], c[2], c[0].b", R"({"c":{"L":[{"M":{"b":{"N":"2"}}},{"S":"two"}]}})"},
                    Case{"c[3][1], c[0].a, c[3][0]",
                         R"({"c":{"L":[{"M":{"a":{"N":"1"}}},{"L":[{"N":"7"},{"N":"8"}]}]}})"},
                    Case{"b.c[1]", R"({"b":{"M":{"c":{"L":[{"S":"q"}]}}}})"},
                    Case{"b.c, c[1]", R"({"b":{"M":{"c":{"L":[{"S":"p"},{"S":"q"}]}}},"c":{"L":[{"S":"one"}]}})"}));

class RefusedProjection : public testing::TestWithParam<Case> {};

TEST_P(RefusedProjection, NamesTheFault) {
  EXPECT_EQ(projection_error(GetParam().text), "Invalid ProjectionExpression: " + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Projection, RefusedProjection,
    testing::Values(
        Case{"", "The expression can not be empty;"}, Case{"a,", "Syntax error; token: \"<EOF>\", near: \",\""},
        Case{"a b", "Syntax error; token: \"b\", near: \"a b\""},
        Case{":n", "Syntax error; token: \":n\", near: \":n\""},
        Case{"a.", "Syntax error; token: \"<EOF>\", near: \".\""},
        Case{"size(a)", "Syntax error; token: \"(\", near: \"size(a\""},
        Case{"(a)", "Syntax error; token: \"(\", near: \"(a\""},
        Case{"a, status", "Attribute name is a reserved keyword; reserved keyword: status"},
        Case{"and", "Attribute name is a reserved keyword; reserved keyword: and"},
        Case{"l[2147483648]", "List index is not within the allowable range; index: [2147483648]"},
        Case{"a, #x, a", "An expression attribute name used in the document path is not defined; attribute name: #x"},
        Case{"b[1], b.a, #a.b, a",
             "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], "
             "path two: [a]"},
        Case{"a, #a[1]",
             "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
             "path two: [a, [1]]"},
        Case{"a.b[1], #a[1], c",
             "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b, "
             "[1]], path two: [a, [1]]"},
        Case{"a[3].b, #a.#index.b",
             "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, "
             "[3], b], path two: [a, [3], b]"}));

TEST(Projection, LimitsTheSize) {
  EXPECT_EQ(
      projection_error("a" + std::string(4096, ' ')),
      "Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097");
}

TEST(Projection, TellsItsAttributes) {
  const auto parsed = parse_projection("b.c, #a, b.d, remove");
  ASSERT_TRUE(parsed);
  const Placeholders placeholders = samples();
  const auto bound = Binder(placeholders).bind(*parsed);
  ASSERT_TRUE(bound);
  EXPECT_THAT(bound->attributes(), testing::ElementsAre("b", "a", "remove"));
}

TEST(Projection, FindsTheOneOverlapAmongManyPaths) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a" + std::to_string(i) + ",";
  EXPECT_EQ(projection_error(text + "b"), "");
  EXPECT_EQ(projection_error(text + "a200.x"),
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of "
            "these paths; path one: [a200], path two: [a200, x]");
}

}  // namespace
}  // namespace postino::expr
