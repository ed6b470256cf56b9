#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

class RefusedCondition : public testing::TestWithParam<Case> {};

TEST_P(RefusedCondition, NamesTheFault) {
  EXPECT_EQ(condition_error(GetParam().text), "Invalid ConditionExpression: " + GetParam().expected);
}

std::string operands(std::string_view function, int count) {
  return "Incorrect number of operands for operator or function; operator or function: " + std::string(function) +
         ", number of operands: " + std::to_string(count);
}
std::string needs_path(std::string_view function) {
  return "Operator or function requires a document path; operator or function: " + std::string(function);
}
std::string not_distinct(std::string_view operation, std::string_view path) {
  return "The first operand must be distinct from the remaining operands for this operator or function; operator: " +
         std::string(operation) + ", first operand: " + std::string(path);
}

INSTANTIATE_TEST_SUITE_P(Undefined, RefusedCondition,
                         testing::Values(Case{"#x = :n", undefined_name("#x")},
                                         Case{"a.b.#x = :n", undefined_name("#x")},
                                         Case{"a = :x", undefined_value(":x")}, Case{":x < #x", undefined_value(":x")},
                                         Case{"#x < :x", undefined_name("#x")},
                                         Case{"a IN (:n, :x)", undefined_value(":x")},
                                         Case{"begins_with(Pictures.#x)", undefined_name("#x")},
                                         Case{"(#p between :lo and :hi) and (#pc in (:c))", undefined_name("#p")}));

INSTANTIATE_TEST_SUITE_P(Operands, RefusedCondition,
                         testing::Values(Case{"attribute_exists(a, b) and a=b", operands("attribute_exists", 2)},
                                         Case{"attribute_not_exists(a, b)", operands("attribute_not_exists", 2)},
                                         Case{"attribute_type(a)", operands("attribute_type", 1)},
                                         Case{"begins_with(a, size(b), c)", operands("begins_with", 3)},
                                         Case{"contains(a)", operands("contains", 1)},
                                         Case{"size(a, b) > c", operands("size", 2)},
                                         Case{"attribute_exists(:n)", needs_path("attribute_exists")},
                                         Case{"attribute_not_exists(size(:s))", needs_path("attribute_not_exists")},
                                         Case{"attribute_type(size(a), :s)", needs_path("attribute_type")}));

INSTANTIATE_TEST_SUITE_P(
    Distinct, RefusedCondition,
    testing::Values(Case{"a = a AND #a = b", not_distinct("=", "[a]")}, Case{"#a <> a", not_distinct("<>", "[a]")},
                    Case{"a > #a", not_distinct(">", "[a]")},
                    Case{"contains(ab.bc[1].a, ab.bc[1].#a)", not_distinct("contains", "[ab, bc, [1], a]")},
                    Case{"attribute_type(c.#a, c.a)", not_distinct("attribute_type", "[c, a]")},
                    Case{"begins_with(a, #a)", not_distinct("begins_with", "[a]")},
                    Case{"a BETWEEN :n AND a", not_distinct("BETWEEN", "[a]")},
                    Case{"a IN (b, c, #a)", not_distinct("IN", "[a]")}));

INSTANTIATE_TEST_SUITE_P(
    Types, RefusedCondition,
    testing::Values(
        Case{"begins_with(a, :n)", operand_type("begins_with", "N")},
        Case{"begins_with(:bool, a)", operand_type("begins_with", "BOOL")},
        Case{"begins_with(a, :ss)", operand_type("begins_with", "SS")},
        Case{"begins_with(a, size(b))", operand_type("begins_with", "N")}, Case{"a < :bool", operand_type("<", "BOOL")},
        Case{":null <= a", operand_type("<=", "NULL")}, Case{"a > :l", operand_type(">", "L")},
        Case{"a >= :m", operand_type(">=", "M")}, Case{"size(a) < :ns", operand_type("<", "NS")},
        Case{"a BETWEEN :bool AND :n", operand_type("BETWEEN", "BOOL")},
        Case{":bs BETWEEN a AND b", operand_type("BETWEEN", "BS")}, Case{"size(:n) > a", operand_type("size", "N")},
        Case{"size(:bool) > a", operand_type("size", "BOOL")}, Case{"size(:null) > a", operand_type("size", "NULL")},
        Case{"size(size(a)) > :n", operand_type("size", "N")},
        Case{"attribute_not_exists(size(:n))", operand_type("size", "N")},
        Case{"attribute_type(a, :n)", operand_type("attribute_type", "N")},
        Case{"attribute_type(a, :bs)", operand_type("attribute_type", "BS")},
        Case{"attribute_type(a, size(b))", operand_type("attribute_type", "N")},
        Case{"attribute_type(a, b)", operand_type("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")},
        Case{"attribute_type(a, :s)",
             "Invalid attribute type name found; type: text, valid types: "
             "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"},
        Case{"a BETWEEN :s AND :n",
             "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
             "operand: AttributeValue: {S:text}, upper bound operand: AttributeValue: {N:1}"}));

// Faults are reported comparison by comparison; within one, placeholders, counts, distinctness and types in this order.
INSTANTIATE_TEST_SUITE_P(Order, RefusedCondition,
                         testing::Values(Case{"a < :bool AND b = :x", operand_type("<", "BOOL")},
                                         Case{"b = :x AND a < :bool", undefined_value(":x")},
                                         Case{"attribute_exists(#x, :n)", undefined_name("#x")},
                                         Case{"begins_with(a, a, :n)", operands("begins_with", 3)},
                                         Case{"size(:n) = size(a, b)", operands("size", 2)},
                                         Case{"a BETWEEN a AND :bool", not_distinct("BETWEEN", "[a]")}));

TEST(CheckCondition, RefusesBoundsInTheWrongOrder) {
  const Placeholders placeholders{
      {}, Values{{":hi", 10}, {":lo", 9}, {":b", item::Binary{"b"}}, {":a", item::Binary{"a"}}}};
  EXPECT_EQ(condition_error("a BETWEEN :lo AND :hi", placeholders), "");
  EXPECT_EQ(condition_error("a BETWEEN :lo AND :lo", placeholders), "");
  EXPECT_EQ(condition_error("a BETWEEN :hi AND :lo", placeholders, Kind::key_condition),
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to "
            "lower bound; lower bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:9}");
  EXPECT_EQ(
      condition_error("a BETWEEN :b AND :a", placeholders),
      "Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to "
      "lower bound; lower bound operand: AttributeValue: {B:Yg==}, upper bound operand: AttributeValue: {B:YQ==}");
  EXPECT_EQ(condition_error("a BETWEEN :hi AND b", placeholders), "");
}

TEST(CheckCondition, AcceptsEveryTypeWhereItMakesSense) {
  for (const char* value : {":s", ":n", ":b", ":bool", ":null", ":ss", ":ns", ":bs", ":l", ":m"}) {
    EXPECT_EQ(condition_error(std::string("a = ") + value), "");
    EXPECT_EQ(condition_error(std::string("a <> ") + value), "");
    EXPECT_EQ(condition_error(std::string("a IN (:s, ") + value + ")"), "");
    EXPECT_EQ(condition_error(std::string("contains(a, ") + value + ")"), "");
  }
  for (const char* value : {":s", ":n", ":b"}) EXPECT_EQ(condition_error(std::string("a < ") + value), "");
  for (const char* value : {":s", ":b", ":ss", ":ns", ":bs", ":l", ":m"})
    EXPECT_EQ(condition_error("size(" + std::string(value) + ") = :n"), "");
  for (const char* name : {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"})
    EXPECT_EQ(condition_error("attribute_type(a, :t)", {{}, Values{{":t", name}}}), "");
  EXPECT_TRUE(matches("attribute_type(:v, :t)", {}, {{}, Values{{":t", "N"}, {":v", 7}}}));
  EXPECT_FALSE(matches("attribute_type(:v, :t)", {}, {{}, Values{{":t", "S"}, {":v", 7}}}));
}

}  // namespace
}  // namespace postino::expr
