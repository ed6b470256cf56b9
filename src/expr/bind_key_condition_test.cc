#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

class RefusedKeyCondition : public testing::TestWithParam<Case> {};

TEST_P(RefusedKeyCondition, NamesTheFault) {
  const auto parsed = parse_condition(GetParam().text, Kind::key_condition);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Placeholders placeholders = samples();
  EXPECT_EQ(message_of(Binder(placeholders).bind_key_condition(*parsed)), GetParam().expected);
}

std::string bad_operator(std::string_view name) {
  return "Invalid operator used in KeyConditionExpression: " + std::string(name);
}
std::string bad_condition(std::string_view reason) {
  return "Invalid condition in KeyConditionExpression: " + std::string(reason);
}
const std::string nested_operation = "KeyConditionExpressions cannot contain nested operations";
const std::string nested_attribute = "KeyConditionExpressions cannot have conditions on nested attributes";
const std::string several = "KeyConditionExpressions must only contain one condition per key";

INSTANTIATE_TEST_SUITE_P(
    KeyCondition, RefusedKeyCondition,
    testing::Values(
        Case{"a > b and size(b) > c or a > c", bad_operator("OR")}, Case{"not a > b", bad_operator("NOT")},
        Case{"a in (b, size(c), d)", bad_operator("IN")}, Case{"a <> :n", bad_operator("<>")},
        Case{"attribute_exists(a)", bad_operator("attribute_exists")},
        Case{"attribute_not_exists(a)", bad_operator("attribute_not_exists")},
        Case{"contains(a.d, b)", bad_operator("contains")}, Case{"a = :n AND (b = :n OR b = :n)", bad_operator("OR")},
        Case{":s between size(b) and size(a) and b > :n",
             bad_condition("BETWEEN operator must have the key attribute as its first operand")},
        Case{"begins_with(:s, b) and a > :n",
             bad_condition("begins_with operator must have the key attribute as its first operand")},
        Case{"size(b) > a AND a.b > b AND b > c", nested_operation}, Case{"a > size(b.d)", nested_operation},
        Case{"a between size(b) and size(a)", nested_operation},
        Case{"b > a.b", bad_condition("Multiple attribute names used in one condition")},
        Case{"b between c[1] and d", bad_condition("Multiple attribute names used in one condition")},
        Case{"a between b and size(a)", bad_condition("Multiple attribute names used in one condition")},
        Case{"begins_with(a, b)", bad_condition("Multiple attribute names used in one condition")},
        Case{"b.d > a AND c.d > e.f", nested_attribute}, Case{"b[0] > a", nested_attribute},
        Case{":n > :n AND a < :n", bad_condition("No key attribute specified")},
        Case{":n > b AND :n < :n", bad_condition("No key attribute specified")},
        Case{"b > :n AND b < :n and c = :n and d = :n", several},
        Case{"(a > :n and b > :n) and (#b > :n and c > :n)", several},
        // What is wrong with any condition comes first.
        Case{"a = :x OR b = :n",
             "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
             "attribute value: :x"},
        Case{"a < :bool",
             "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
             "<, operand type: BOOL"}));

class KeyConditions : public testing::Test {
 protected:
  std::vector<KeyConjunct> conjuncts(std::string_view text) {
    const auto parsed = cached_condition(text, Kind::key_condition);
    CHECK(parsed);
    auto bound = Binder(placeholders_).bind_key_condition(*parsed);
    CHECK(bound);
    return *bound;
  }
  const item::AttributeValue* value(std::string_view key) { return placeholders_.values->find(key); }

  const Placeholders placeholders_ = samples();
};

TEST_F(KeyConditions, HashAndRange) {
  const auto found = conjuncts("pk = :s AND #a BETWEEN :n AND :n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].attribute, "pk");
  EXPECT_EQ(found[0].op, KeyOperator::equal);
  EXPECT_EQ(found[0].value, value(":s"));
  EXPECT_EQ(found[0].upper, nullptr);
  EXPECT_EQ(found[1].attribute, "a");
  EXPECT_EQ(found[1].op, KeyOperator::between);
  EXPECT_EQ(found[1].value, value(":n"));
  EXPECT_EQ(found[1].upper, value(":n"));
}

TEST_F(KeyConditions, EveryOperator) {
  EXPECT_EQ(conjuncts("a < :n")[0].op, KeyOperator::less);
  EXPECT_EQ(conjuncts("a <= :n")[0].op, KeyOperator::less_equal);
  EXPECT_EQ(conjuncts("a > :n")[0].op, KeyOperator::greater);
  EXPECT_EQ(conjuncts("(a >= :n)")[0].op, KeyOperator::greater_equal);
  EXPECT_EQ(conjuncts("begins_with(a, :s)")[0].op, KeyOperator::begins_with);
  EXPECT_EQ(conjuncts("begins_with(a, :s)")[0].value, value(":s"));
}

TEST_F(KeyConditions, AReversedComparisonIsTurnedAround) {
  const auto found = conjuncts(":n < a AND :s = pk");
  EXPECT_EQ(found[0].op, KeyOperator::greater);
  EXPECT_EQ(found[0].value, value(":n"));
  EXPECT_EQ(found[1].op, KeyOperator::equal);
  EXPECT_EQ(conjuncts(":n <= a")[0].op, KeyOperator::greater_equal);
  EXPECT_EQ(conjuncts(":n > a")[0].op, KeyOperator::less);
  EXPECT_EQ(conjuncts(":n >= a")[0].op, KeyOperator::less_equal);
}

}  // namespace
}  // namespace postino::expr
