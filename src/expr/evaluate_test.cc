#include "expr/evaluate.h"

#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

const item::Map& example_item() {
  static const item::Map item = {
      {"s", "text"},
      {"n", 1},
      {"n10", 10},
      {"b", item::Binary{"\x01\xFF\x02"}},
      {"yes", true},
      {"nothing", item::Null{}},
      {"ss", strings({"x", "y"})},
      {"ns", numbers({1, 2})},
      {"bs", binaries({item::Binary{"x"}})},
      {"l", item::List{1, "two", item::List{3}}},
      {"m", item::Map{{"box", item::Map{{"deep", item::List{"zero", item::Map{{"x", 7}}}}}}, {"k", "v"}}},
      {"blank", ""},
  };
  return item;
}

Placeholders values(Values values) { return {std::nullopt, std::move(values)}; }

struct Truth {
  std::string text;
  bool expected;
  Values values = {};
};
void PrintTo(const Truth& truth, std::ostream* out) { *out << truth.text; }

class Evaluated : public testing::TestWithParam<Truth> {};

TEST_P(Evaluated, HoldsOrNot) {
  const Truth& truth = GetParam();
  const bool result = truth.values.empty() ? matches(truth.text, example_item())
                                           : matches(truth.text, example_item(), values(truth.values));
  EXPECT_EQ(result, truth.expected);
}

// :s is "text", :n is 1.
INSTANTIATE_TEST_SUITE_P(Comparators, Evaluated,
                         testing::Values(Truth{"s = :s", true}, Truth{"s <> :s", false}, Truth{"n = :n", true},
                                         Truth{"n < :n", false}, Truth{"n <= :n", true}, Truth{"n10 > :n", true},
                                         Truth{"n >= :n", true}, Truth{"n10 < :n", false}, Truth{"n < n10", true},
                                         Truth{"s = :n", false}, Truth{"s <> :n", true}, Truth{"s < :n", false},
                                         Truth{"s >= :n", false}, Truth{":n = n", true}, Truth{":s = :s", true},
                                         Truth{"(s) = (:s)", true}, Truth{"yes < s", false},
                                         Truth{"yes >= yes2", false}, Truth{"n = :v", true, {{":v", 1}}},
                                         Truth{"s < :v", true, {{":v", "tf"}}}, Truth{"s < :v", false, {{":v", "te"}}},
                                         Truth{"b > :v", true, {{":v", item::Binary{"\x01\x7F"}}}}));

INSTANTIATE_TEST_SUITE_P(
    Missing, Evaluated,
    testing::Values(Truth{"x = :n", false}, Truth{"x <> :n", true}, Truth{"x < :n", false}, Truth{"x >= :n", false},
                    Truth{"x = y", false}, Truth{"x <> y", true}, Truth{"x <= y", false}, Truth{"NOT x = :n", true},
                    Truth{"NOT x <> :n", false}, Truth{"x BETWEEN :n AND :n", false}, Truth{"n BETWEEN x AND y", false},
                    Truth{"x IN (:n)", false}, Truth{"n IN (x)", false}, Truth{"contains(x, :s)", false},
                    Truth{"begins_with(x, :s)", false}, Truth{"size(x) = :n", false}, Truth{"size(x) <> :n", true},
                    Truth{"m.x.y = :n", false}, Truth{"l[3] = :n", false}, Truth{"s.x = :n", false},
                    Truth{"m[0] = :n", false}, Truth{"l.k = :n", false}));

INSTANTIATE_TEST_SUITE_P(Equality, Evaluated,
                         testing::Values(Truth{"ss = :v", true, {{":v", strings({"y", "x"})}}},
                                         Truth{"ss = :v", false, {{":v", strings({"x"})}}},
                                         Truth{"ns = :v", true, {{":v", numbers({2, 1})}}}, Truth{"ns = ss", false},
                                         Truth{"l = :v", true, {{":v", item::List{1, "two", item::List{3}}}}},
                                         Truth{"l = :v", false, {{":v", item::List{"two", 1, item::List{3}}}}},
                                         Truth{"m.box.deep[1] = :v", true, {{":v", item::Map{{"x", 7}}}}},
                                         Truth{"m.box.deep[1] <> :v", true, {{":v", item::Map{{"x", 8}}}}},
                                         Truth{"yes = :bool", true}, Truth{"nothing = :null", true},
                                         Truth{"nothing = :bool", false}));

INSTANTIATE_TEST_SUITE_P(BetweenAndIn, Evaluated,
                         testing::Values(Truth{"n BETWEEN :a AND :z", true, {{":a", 0}, {":z", 1}}},
                                         Truth{"n BETWEEN :a AND :z", true, {{":a", 1}, {":z", 1}}},
                                         Truth{"n BETWEEN :a AND :z", false, {{":a", 2}, {":z", 3}}},
                                         Truth{"s BETWEEN :a AND :z", false, {{":a", 0}, {":z", 9}}},
                                         Truth{":v BETWEEN n AND n10", true, {{":v", 5}}},
                                         Truth{":v BETWEEN n AND s", false, {{":v", 5}}},
                                         Truth{"n BETWEEN :n AND :n AND s = :s", true},
                                         Truth{"n BETWEEN :n AND :n AND s = :n", false}, Truth{"n IN (:s, :n)", true},
                                         Truth{"n IN (:s, :l)", false}, Truth{"n IN (:n)", true},
                                         Truth{"n IN (size(l), size(ss), size(bs))", true},
                                         Truth{"l IN (:s, :l)", false}, Truth{"NOT n IN (:n)", false}));

INSTANTIATE_TEST_SUITE_P(
    Functions, Evaluated,
    testing::Values(Truth{"attribute_exists(s)", true}, Truth{"attribute_exists(nothing)", true},
                    Truth{"attribute_exists(m.box.deep[1].x)", true}, Truth{"attribute_exists(m.box.deep[2])", false},
                    Truth{"attribute_not_exists(x)", true}, Truth{"attribute_not_exists(s)", false},
                    Truth{"attribute_type(s, :t)", true, {{":t", "S"}}},
                    Truth{"attribute_type(s, :t)", false, {{":t", "N"}}},
                    Truth{"attribute_type(nothing, :t)", true, {{":t", "NULL"}}},
                    Truth{"attribute_type(ns, :t)", true, {{":t", "NS"}}},
                    Truth{"attribute_type(x, :t)", false, {{":t", "S"}}},
                    Truth{"begins_with(s, :v)", true, {{":v", "te"}}}, Truth{"begins_with(s, :v)", true, {{":v", ""}}},
                    Truth{"begins_with(s, :v)", false, {{":v", "textual"}}},
                    Truth{"begins_with(b, :v)", true, {{":v", item::Binary{"\x01\xFF"}}}},
                    Truth{"begins_with(s, :v)", false, {{":v", item::Binary{"te"}}}},
                    Truth{"begins_with(n, :s)", false}, Truth{"begins_with(:s, s)", true}));

INSTANTIATE_TEST_SUITE_P(
    Contains, Evaluated,
    testing::Values(Truth{"contains(s, :v)", true, {{":v", "ex"}}}, Truth{"contains(s, :v)", false, {{":v", "xe"}}},
                    Truth{"contains(s, :v)", true, {{":v", ""}}}, Truth{"contains(s, :v)", false, {{":v", 1}}},
                    Truth{"contains(b, :v)", true, {{":v", item::Binary{"\xFF"}}}},
                    Truth{"contains(b, :v)", false, {{":v", "\x01"}}}, Truth{"contains(ss, :v)", true, {{":v", "x"}}},
                    Truth{"contains(ss, :v)", false, {{":v", "xy"}}}, Truth{"contains(ns, :v)", true, {{":v", 2}}},
                    Truth{"contains(ns, :v)", false, {{":v", "2"}}},
                    Truth{"contains(bs, :v)", true, {{":v", item::Binary{"x"}}}},
                    Truth{"contains(l, :v)", true, {{":v", "two"}}},
                    Truth{"contains(l, :v)", true, {{":v", item::List{3}}}},
                    Truth{"contains(l, :v)", false, {{":v", 3}}}, Truth{"contains(m, :v)", false, {{":v", "k"}}},
                    Truth{"contains(n10, :n)", false}, Truth{"contains(:v, s)", true, {{":v", "a text"}}}));

INSTANTIATE_TEST_SUITE_P(
    Size, Evaluated,
    testing::Values(Truth{"size(s) = :v", true, {{":v", 4}}}, Truth{"size(b) = :v", true, {{":v", 3}}},
                    Truth{"size(ss) = :v", true, {{":v", 2}}}, Truth{"size(ns) = :v", true, {{":v", 2}}},
                    Truth{"size(bs) = :v", true, {{":v", 1}}}, Truth{"size(l) = :v", true, {{":v", 3}}},
                    Truth{"size(m) = :v", true, {{":v", 2}}}, Truth{"size(blank) = :v", true, {{":v", 0}}},
                    Truth{"size(:v) = n", true, {{":v", "x"}}}, Truth{"size(:v) = n", true, {{":v", "ü"}}},
                    // A character beyond U+FFFF is two code units of UTF-16.
                    Truth{"size(:v) = :n", true, {{":v", "é𝄞"}, {":n", 3}}}, Truth{"size(n) = :n", false},
                    Truth{"size(yes) = :n", false}, Truth{"size(l) > size(ss)", true},
                    Truth{"size(l) BETWEEN size(ss) AND size(s)", true}, Truth{"size(l) < :s", false}));

INSTANTIATE_TEST_SUITE_P(
    Logic, Evaluated,
    testing::Values(Truth{"NOT s = :n AND n = :n", true}, Truth{"NOT (s = :n AND n = :s)", true},
                    Truth{"NOT (s = :s AND n = :n)", false}, Truth{"NOT NOT s = :s", true},
                    // AND binds closer than OR.
                    Truth{"n = :n OR n = :n AND n = :s", true}, Truth{"(n = :n OR n = :n) AND n = :s", false},
                    Truth{"n = :s AND n = :n OR n = :n", true}, Truth{"n = :s OR s = :n OR s = :s", true},
                    Truth{"n = :n AND s = :s AND s = :n", false}, Truth{"NOT n = :s OR n = :s", true}));

TEST(Evaluate, AnAbsentItemIsEmpty) {
  EXPECT_TRUE(matches("attribute_not_exists(a)", {}));
  EXPECT_FALSE(matches("a = :n", {}));
  EXPECT_TRUE(matches("a <> :n", {}));
}

TEST(Evaluate, NamesStandForAttributesWithAnyCharacters) {
  const item::Map item = {{"a.b", 1}, {"size", 2}};
  const Placeholders placeholders{Names{{"#n", "a.b"}, {"#s", "size"}}, Values{{":one", 1}, {":two", 2}}};
  EXPECT_TRUE(matches("#n = :one AND #s = :two", item, placeholders));
}

TEST(Evaluate, TellsItsAttributes) {
  const auto parsed = parse_condition("b.c = :n AND (a[0]).x = :n OR contains(b, #a) AND size(d) > :n", Kind::filter);
  ASSERT_TRUE(parsed);
  const Placeholders placeholders = samples();
  const auto bound = Binder(placeholders).bind(*parsed);
  ASSERT_TRUE(bound);
  EXPECT_THAT(bound->attributes(), testing::ElementsAre("b", "a", "d"));
  EXPECT_THAT(bound->nested_attributes(), testing::ElementsAre("b", "a"));
}

}  // namespace
}  // namespace postino::expr
