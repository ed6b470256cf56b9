#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

class RefusedUpdate : public testing::TestWithParam<Case> {};

TEST_P(RefusedUpdate, NamesTheFault) {
  EXPECT_EQ(update_error(GetParam().text), "Invalid UpdateExpression: " + GetParam().expected);
}

std::string set_type(std::string_view operation, std::string_view type) {
  return "Incorrect operand type for operator or function; operator: " + std::string(operation) +
         ", operand type: " + std::string(type) + ", typeSet: ALLOWED_FOR_ADD_OPERAND";
}
std::string related(std::string_view how, std::string_view one, std::string_view two) {
  return "Two document paths " + std::string(how) +
         " with each other; must remove or rewrite one of these paths; path one: " + std::string(one) +
         ", path two: " + std::string(two);
}

INSTANTIATE_TEST_SUITE_P(Paths, RefusedUpdate,
                         testing::Values(Case{"SET a = :n, #a = :n", related("overlap", "[a]", "[a]")},
                                         Case{"SET a = :n REMOVE a.b", related("overlap", "[a]", "[a, b]")},
                                         Case{"REMOVE l[0].x, l[0]", related("overlap", "[l, [0], x]", "[l, [0]]")},
                                         Case{"SET a.b = :n, c = :n ADD a[0] :n",
                                              related("conflict", "[a, b]", "[a, [0]]")},
                                         Case{"remove c.#a set c[1] = #b", related("conflict", "[c, a]", "[c, [1]]")},
                                         // An overlap is reported before a conflict that comes earlier.
                                         Case{"set d[1] = a, d.b = a, c[1].a = a, c = if_not_exists(a)",
                                              related("overlap", "[c, [1], a]", "[c]")},
                                         Case{"set c[3].#index = a, c.#index[3] = a",
                                              related("conflict", "[c, [3], [3]]", "[c, [3], [3]]")}));

INSTANTIATE_TEST_SUITE_P(Order, RefusedUpdate,
                         testing::Values(Case{"SET #x = if_not_exists(:x)", undefined_name("#x")},
                                         Case{"SET a = :x, a = #x", undefined_name("#x")},
                                         Case{"SET a = :x, a.b = :n", related("overlap", "[a]", "[a, b]")},
                                         Case{"SET a = if_not_exists(:x)", undefined_value(":x")},
                                         Case{"ADD a :s SET b = :x", undefined_value(":x")},
                                         Case{"set b = list_append(:s, a), c = if_not_exists(a) add a.b :s",
                                              set_type("ADD", "STRING")}));

INSTANTIATE_TEST_SUITE_P(
    AddAndDelete, RefusedUpdate,
    testing::Values(Case{"ADD a :s", set_type("ADD", "STRING")}, Case{"ADD a :b", set_type("ADD", "BINARY")},
                    Case{"ADD a :bool", set_type("ADD", "BOOL")}, Case{"ADD a :null", set_type("ADD", "NULL")},
                    Case{"ADD a :l", set_type("ADD", "LIST")}, Case{"ADD a :m", set_type("ADD", "MAP")},
                    Case{"DELETE a :n", set_type("DELETE", "NUMBER")},
                    Case{"DELETE a :s", set_type("DELETE", "STRING")}));

INSTANTIATE_TEST_SUITE_P(
    Functions, RefusedUpdate,
    testing::Values(
        Case{"set a = if_not_exists(c)",
             "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of "
             "operands: 1"},
        Case{"set a = list_append(b, c, d)",
             "Incorrect number of operands for operator or function; operator or function: list_append, number of "
             "operands: 3"},
        Case{"set a = if_not_exists(:n, c)",
             "Operator or function requires a document path; operator or function: if_not_exists"},
        Case{"set a = if_not_exists(if_not_exists(a, b), c)",
             "Operator or function requires a document path; operator or function: if_not_exists"},
        Case{"set a = list_append(:s, a)", operand_type("list_append", "S")},
        Case{"set a = list_append(a, :m)", operand_type("list_append", "M")},
        Case{"set a = a + :s", operand_type("+", "S")}, Case{"set a = :b + :s", operand_type("+", "B")},
        Case{"set a = :l - a", operand_type("-", "L")}, Case{"set a = a - :bool", operand_type("-", "BOOL")}));

TEST(CheckUpdate, SiblingsAreNoOverlap) {
  EXPECT_EQ(update_error("SET a.b = :n, a.c = :n, l[0] = :n, l[1].a = :n, ab = :n REMOVE a.bc, l[10]"), "");
}

}  // namespace
}  // namespace postino::expr
