// What statements become: condition expressions, update expressions, ranges of keys, tokens.
#include <gtest/gtest.h>

#include "base/hash.h"
#include "expr/expression.h"
#include "item/json_codec.h"
#include "partiql/checked_statement.h"
#include "partiql/condition_writer.h"
#include "partiql/key_branches.h"
#include "partiql/page_token.h"
#include "partiql/syntax/parse.h"
#include "partiql/update_writer.h"

namespace postino::partiql {
namespace {

item::AttributeValue json(std::string_view text) {
  auto value = item::parse_value(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : item::AttributeValue();
}

Statement statement(std::string text, Parameters parameters = {}) {
  Statement result;
  result.text = std::move(text);
  result.has_parameters = !parameters.empty();
  result.parameters = std::move(parameters);
  return result;
}

// The error of the checks that need no table; "ok" when there is none.
std::string check(const Statement& given) {
  auto tree = parse(given);
  if (!tree) return tree.error().message;
  auto checked = check_statement(given, *tree);
  return checked ? "ok" : checked.error().message;
}

std::string check_where(std::string_view condition, Parameters parameters = {}) {
  return check(statement("SELECT * FROM T WHERE " + std::string(condition), std::move(parameters)));
}

std::string check_set(std::string_view assignment, Parameters parameters = {}) {
  return check(statement("UPDATE T SET " + std::string(assignment) + " WHERE pk = 'x'", std::move(parameters)));
}

bool holds(std::string_view condition, std::string_view item_json, const Parameters& parameters = {}) {
  const auto tree = parse_statement("SELECT * FROM T WHERE " + std::string(condition));
  EXPECT_TRUE(tree) << condition << ": " << tree.error().message;
  const auto filter = Filter::make(*std::get<Select>((*tree)->body).where, parameters);
  EXPECT_TRUE(filter) << condition << ": " << filter.error().message;
  const auto item = item::parse_item(item_json);
  EXPECT_TRUE(item) << item_json;
  return filter && item && filter->matches(*item);
}

std::string updated(std::string_view actions, std::string_view item_json) {
  const Statement given = statement("UPDATE T " + std::string(actions) + " WHERE pk = 'x'");
  auto tree = parse(given);
  EXPECT_TRUE(tree) << actions;
  auto checked = check_statement(given, *tree);
  if (!checked) return checked.error().message;
  const auto update = expr::parse_update(checked->update);
  EXPECT_TRUE(update) << checked->update;
  const auto bound = expr::Binder(checked->substitutions.placeholders()).bind(*update);
  const auto after = bound->apply(*item::parse_item(item_json));
  return after ? item::to_json(*after) : after.error().message;
}

constexpr std::string_view sample = R"({"n":{"N":"1"},"flag":{"S":"right"},"yes":{"BOOL":true},"nul":{"NULL":true},
    "ss":{"SS":["a","b"]},"m":{"M":{"sub":{"S":"x"}}},"l":{"L":[{"S":"a"}]},"s":{"S":"str"},"odd name":{"N":"7"}})";

TEST(Condition, MeansWhatItSays) {
  for (const char* condition : {"n = 1",
                                "1 = n",
                                "n <> 2",
                                "n != 2",
                                "n > 0 AND n < 2",
                                "n >= 1 OR n <= 0",
                                "n BETWEEN - 2 AND +5",
                                "n IN [- 1, 1]",
                                "n IN (3, 1)",
                                "n NOT IN [2]",
                                "NOT n = 2",
                                "NOT (n = 2 OR n = 3)",
                                "n NOT BETWEEN 2 AND 3",
                                "\"odd name\" = 7",
                                "m.sub = 'x'",
                                "l[0] = 'a'",
                                "m['sub'] = 'x'",
                                "ss = <<'b', 'a'>>",
                                "begins_with(s, 'st')",
                                "contains(ss, 'a')",
                                "contains(s, 'tr')",
                                "size(s) = 3",
                                "attribute_type(ss, 'SS')",
                                "ATTRIBUTE_EXISTS(m.sub)",
                                "attribute_not_exists(nope)",
                                "nope <> 1",
                                "NOT nope = 1",
                                "NOT NOT n = 1",
                                "nul = null",
                                "n > -5"})
    EXPECT_TRUE(holds(condition, sample)) << condition;
  for (const char* condition : {"n = 2", "n = '1'", "nope = 1", "nope < 1", "n < 'a'", "n IN [2, '1']",
                                "n = 1 AND (flag = 'x' OR flag = 'y')", "attribute_exists(m.nope)", "s > 5"})
    EXPECT_FALSE(holds(condition, sample)) << condition;
}

TEST(Condition, BindsTighterAsSqlDoes) {
  EXPECT_TRUE(holds("n = 1 OR n = 2 AND n = 3", sample));
  EXPECT_FALSE(holds("(n = 1 OR n = 2) AND n = 3", sample));
  EXPECT_TRUE(holds("NOT n = 2 AND n = 1", sample));
}

TEST(Condition, TestsNullMissingAndTypes) {
  for (const char* condition : {"nul IS NULL", "n IS NOT NULL", "nope IS NOT NULL", "nope IS MISSING",
                                "n IS NOT MISSING", "yes IS BOOL", "yes IS BOOLEAN", "s IS STRING", "n IS NUMERIC",
                                "m IS STRUCT", "m IS TUPLE", "l IS LIST", "n IS NOT STRING", "NOT n IS STRING"})
    EXPECT_TRUE(holds(condition, sample)) << condition;
  for (const char* condition : {"n IS NULL", "nope IS NULL", "nul IS NOT NULL", "n IS MISSING", "nope IS NOT MISSING",
                                "s IS BOOL", "ss IS LIST"})
    EXPECT_FALSE(holds(condition, sample)) << condition;
}

TEST(Condition, HasATruthThatCanBeCompared) {
  for (const char* condition :
       {"attribute_exists(nope) = false", "true = attribute_exists(n)", "attribute_exists(n) <> 1",
        "contains(nope, 'z') = false", "(n BETWEEN 0 AND 5) = true", "(n = 5 OR flag = 'x') = false",
        "attribute_exists(nope) IN [true, false]", "attribute_exists(n) = attribute_exists(flag)",
        "attribute_exists(n) = yes", "attribute_exists(nope) <> yes", "attribute_exists(n) <> nope"})
    EXPECT_TRUE(holds(condition, sample)) << condition;
  for (const char* condition :
       {"attribute_exists(n) = 1", "NOT attribute_exists(n) = true", "(attribute_exists(n) = true) = false",
        "attribute_exists(n) = flag", "attribute_exists(nope) = yes", "attribute_exists(n) = nope"})
    EXPECT_FALSE(holds(condition, sample)) << condition;
  EXPECT_EQ(check_where("attribute_exists(n) > false"),
            "Incorrect operand type for operator or function; operator or function: >, operand type: BOOL");
}

TEST(Condition, OfTruthsDoesNotGrowWithoutEnd) {
  std::string condition = "a = 1";
  for (int i = 0; i < 60; ++i) condition = "(" + condition + ") = b" + std::to_string(i);
  EXPECT_TRUE(check_where(condition).starts_with("Expression size has exceeded the maximum allowed size;"));
}

TEST(Condition, TakesParametersOfEveryType) {
  const Parameters parameters = {json(R"({"SS":["b","a"]})"), json(R"({"L":[{"S":"a"}]})")};
  EXPECT_TRUE(holds("ss = ? AND l = ?", sample, parameters));
}

TEST(Condition, RefusesOperandsOfAWrongType) {
  const auto refused = [](std::string_view operation, std::string_view type) {
    return "Incorrect operand type for operator or function; operator or function: " + std::string(operation) +
           ", operand type: " + std::string(type);
  };
  for (const char* operation : {"<", "<=", ">", ">="})
    EXPECT_EQ(check_where("val " + std::string(operation) + " ?", {true}), refused(operation, "BOOL"));
  EXPECT_EQ(check_where("val < ?", {json(R"({"M":{}})")}), refused("<", "M"));
  EXPECT_EQ(check_where("val BETWEEN ? AND ?", {true, false}), refused("BETWEEN", "BOOL"));
  EXPECT_EQ(check_where("attribute_type(l, 1)"), refused("attribute_type", "N"));
  EXPECT_EQ(check_where("attribute_type(l, true)"), refused("attribute_type", "BOOL"));
  EXPECT_EQ(check_where("attribute_type(Total, 'X')"),
            "Invalid attribute type name found; type: X, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}");
  EXPECT_EQ(check_where("val = ?", {true}), "ok");
}

TEST(Condition, RefusesFunctionsThatAreNotConditions) {
  EXPECT_EQ(check_where("pk = 'x' AND EXISTS(ss)"), "Unrecognized function: exists at 1:36:6");
  EXPECT_EQ(check_where("set_add(ss, <<'x'>>) = ss"), "Unrecognized function: set_add at 1:23:7");
  EXPECT_EQ(check_where("if_not_exists(a, 1) = 1"), "Unrecognized function: if_not_exists at 1:23:13");
  const std::string needs_path =
      "Operator or function requires a document path; operator or function: attribute_exists";
  EXPECT_EQ(check_where("attribute_exists('ss')"), needs_path);
  EXPECT_EQ(check_where("attribute_exists(?)", {"ss"}), needs_path);
  const std::string count =
      "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of "
      "operands: ";
  EXPECT_EQ(check_where("attribute_exists()"), count + "0");
  EXPECT_EQ(check_where("attribute_exists(ss, ns)"), count + "2");
}

TEST(Condition, RefusesArithmeticAndWhatIsNoCondition) {
  EXPECT_EQ(check_where("counter = 5 + 5"), "Unsupported operator in Condition Expression. Operator: +");
  EXPECT_NE(check_where("n > -n"), "ok");
  EXPECT_NE(check_where("n > -?", {1}), "ok");
  EXPECT_NE(check_where("n LIKE 'a'"), "ok");
  EXPECT_EQ(check_where("n"), "WHERE clause must contain an expression that resolves to a boolean");
  EXPECT_EQ(check_where("n = MISSING"), "MISSING must be compared using IS operator");
}

std::string values(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "'v" : ",'v") + std::to_string(i) + "'";
  return text;
}

TEST(Condition, TakesAHundredCandidates) {
  EXPECT_EQ(check_where("flag IN [" + values(100) + "]"), "ok");
  EXPECT_EQ(check_where("flag IN [" + values(101) + "]"),
            "The IN operator is provided with too many operands; number of operands: 101");
  EXPECT_NE(check_where("flag IN []"), "ok");
  EXPECT_NE(check_where("flag IN ?", {json(R"({"L":[]})")}), "ok");
}

TEST(Parameters, MustBeThere) {
  EXPECT_EQ(check_where("a = ? AND b = ?", {1}), "Number of parameters in request and statement don't match.");
  EXPECT_EQ(check_where("a = ?", {1}), "ok");
}

TEST(Parameters, AreCheckedBeforeTheStatement) {
  Statement given = statement("no statement at all", {1});
  given.parameter_fault = "the fault";
  EXPECT_EQ(check_parameters(given).error().message, "the fault");
  item::AttributeValue deep = "leaf";
  for (int i = 0; i < 40; ++i) deep = item::Map{{"n", deep}};
  EXPECT_EQ(check_parameters(statement("x", {deep})).error().message,
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
            "limit");
}

TEST(UpdateText, SetsRemovesAddsAndDeletes) {
  constexpr std::string_view item =
      R"({"n":{"N":"5"},"k":{"N":"3"},"l":{"L":[{"N":"1"}]},"ss":{"SS":["a","b"]},"m":{"M":{}}})";
  EXPECT_EQ(updated("SET n = n - 1 REMOVE k REMOVE l REMOVE ss REMOVE m", item), R"({"n":{"N":"4"}})");
  EXPECT_EQ(updated("SET n=n-1, m.a = 'x' REMOVE k REMOVE l SET ss = set_delete(ss, <<'a'>>)", item),
            R"({"m":{"M":{"a":{"S":"x"}}},"n":{"N":"4"},"ss":{"SS":["b"]}})");
  EXPECT_EQ(
      updated("SET l = list_append(l, [2, <<'x'>>]) REMOVE n REMOVE k REMOVE m SET ss = SET_ADD(ss, <<'c'>>)", item),
      R"({"l":{"L":[{"N":"1"},{"N":"2"},{"SS":["x"]}]},"ss":{"SS":["a","b","c"]}})");
  EXPECT_EQ(
      updated(
          "SET fresh = set_add(fresh, <<1>>) SET ss = set_delete(ss, <<'a','b'>>) REMOVE n REMOVE k REMOVE l REMOVE m",
          item),
      R"({"fresh":{"NS":["1"]}})");
  EXPECT_EQ(updated("SET l[0] = {'a': null}, n = k REMOVE k REMOVE ss REMOVE m", item),
            R"({"l":{"L":[{"M":{"a":{"NULL":true}}}]},"n":{"N":"3"}})");
}

TEST(UpdateText, AddsUpWhatIsWritten) {
  constexpr std::string_view item = R"({"a":{"N":"10"},"b":{"N":"3"}})";
  const auto sum = [&](const std::string& expression) { return updated("SET a = " + expression + " REMOVE b", item); };
  EXPECT_EQ(sum("a + b"), R"({"a":{"N":"13"}})");
  EXPECT_EQ(sum("a - b"), R"({"a":{"N":"7"}})");
  EXPECT_EQ(sum("100 - a"), R"({"a":{"N":"90"}})");
  EXPECT_EQ(sum("1 + a"), R"({"a":{"N":"11"}})");
  EXPECT_EQ(sum("a + 1 + 2"), R"({"a":{"N":"13"}})");
  EXPECT_EQ(sum("(a + 1) - 2"), R"({"a":{"N":"9"}})");
  EXPECT_EQ(sum("a - (1 - 2)"), R"({"a":{"N":"11"}})");
  EXPECT_EQ(sum("a + -5"), R"({"a":{"N":"5"}})");
  EXPECT_EQ(sum("1 - (2 - a)"), R"({"a":{"N":"9"}})");
  EXPECT_EQ(sum("0.1 + 0.2"), R"({"a":{"N":"0.3"}})");
  EXPECT_EQ(sum("- (a)"), "Unsupported operator in Update Expression. Operator: -");
  EXPECT_EQ(sum("a + b + 1"), "Unsupported operator in Update Expression. Operator: +");
}

TEST(UpdateText, RefusesWhatCannotBeAdded) {
  EXPECT_EQ(check_set("n = 'a' + 1"),
            "Incorrect operand type for operator or function; operator or function: +, operand type: S");
  EXPECT_EQ(check_set("n = n - null"),
            "Incorrect operand type for operator or function; operator or function: -, operand type: NULL");
  EXPECT_EQ(check_set("n = n + [1]"),
            "Incorrect operand type for operator or function; operator or function: +, operand type: L");
  EXPECT_EQ(check_set("n = n + ?", {"text"}),
            "Incorrect operand type for operator or function; operator or function: +, operand type: S");
}

TEST(UpdateText, RefusesMisusedFunctions) {
  EXPECT_EQ(check_set("t = set_add(ss, <<'x'>>)"),
            "The first argument to SET_ADD must equal the assignment value at 1:18:7");
  EXPECT_EQ(check_set("ss = set_add(<<'a'>>, <<'b'>>)"),
            "The first argument to SET_ADD must equal the assignment value at 1:19:7");
  EXPECT_EQ(check_set("ss = set_add(ss, 'x')"),
            "The second argument to SET_ADD must be a value with type SET at 1:27:2");
  EXPECT_EQ(check(statement("UPDATE T\nSET BandMembers = set_add(BandMembers, 'x')\nWHERE pk='s'")),
            "The second argument to SET_ADD must be a value with type SET at 2:27:11");
  EXPECT_EQ(check_set("\"ss\" = set_delete(\"ss\", ['x'])"),
            "The second argument to SET_DELETE must be a value with type SET at 1:32:4");
  EXPECT_EQ(check_set("ss = set_add(ss)"), "SET_ADD must have exactly two arguments at 1:19:7");
  EXPECT_EQ(check_set("ss = set_add(ss, <<'x'>>, <<'y'>>)"), "SET_ADD must have exactly two arguments at 1:19:7");
  EXPECT_EQ(check_set("ss = set_add(ss, ?)", {json(R"({"BS":["AQ=="]})")}), "ok");
  EXPECT_EQ(check_set("a = size(b)"), "Unrecognized function: size at 1:18:4");
  EXPECT_TRUE(check_set("a = 1, a.b = 2").starts_with("Two document paths overlap with each other;"));
}

TEST(Writes, AreNotForIndexes) {
  const std::string refused = "This operation is not supported on an index";
  EXPECT_EQ(check(statement("UPDATE T.i SET a = 1 WHERE pk = 'p'")), refused);
  EXPECT_EQ(check(statement("DELETE FROM T.i WHERE pk = 'p'")), refused);
}

TEST(Writes, ReturnOnlyTheWholeOldItemOfADelete) {
  for (const char* returning : {"RETURNING MODIFIED OLD *", "RETURNING ALL NEW *", "RETURNING MODIFIED NEW *"})
    EXPECT_EQ(check(statement("DELETE FROM T WHERE pk = 'x' " + std::string(returning))),
              "Invalid returning clause: " + std::string(returning) +
                  ". Only RETURNING ALL OLD * is allowed in DELETE statements.");
}

// Ranges of sort keys, in few words: "a: [1..5)".
std::string text_of(const Interval& range) {
  if (range.unbounded()) return "all";
  std::string text =
      range.lower() ? (range.lower()->inclusive ? "[" : "(") + range.lower()->value.as<std::string>() : "(";
  text += "..";
  text += range.upper() ? range.upper()->value.as<std::string>() + (range.upper()->inclusive ? "]" : ")") : ")";
  return text;
}

class Branches : public testing::Test {
 protected:
  std::string of(std::string_view condition) const {
    const auto tree = parse_statement("SELECT * FROM T WHERE " + std::string(condition));
    EXPECT_TRUE(tree) << condition;
    const Expression& where = *std::get<Select>((*tree)->body).where;
    const KeyBranches decomposition(key_, parameters_, false);
    if (!decomposition.name_partition(where)) return "scan";
    const auto branches = decomposition.of(where);
    if (!branches) return branches.error().message;
    std::string text;
    for (const KeyBranch& branch : *branches) {
      if (!text.empty()) text += " | ";
      text += branch.partition->as<std::string>() + ":" + text_of(branch.range);
      if (branch.filtered) text += " filtered";
      if (branch.impossible) text += " impossible";
      if (branch.excludes_range) text += " excluding";
    }
    return text;
  }

  const KeyAttributes key_ = {{"pk", item::Type::string}, KeyAttribute{"sk", item::Type::string}};
  const Parameters parameters_;
};

TEST_F(Branches, FollowTheConditionsOnTheKey) {
  EXPECT_EQ(of("pk = 'a'"), "a:all");
  EXPECT_EQ(of("'a' = pk AND '5' > sk"), "a:(..5)");
  EXPECT_EQ(of("pk = 'a' AND sk = '1'"), "a:[1..1]");
  EXPECT_EQ(of("pk = 'a' AND sk >= '1' AND sk < '3'"), "a:[1..3)");
  EXPECT_EQ(of("pk = 'a' AND sk BETWEEN '1' AND '3'"), "a:[1..3]");
  EXPECT_EQ(of("pk = 'a' AND begins_with(sk, 'ab')"), "a:[ab..ac)");
  EXPECT_EQ(of("pk IN ['a', 'b'] AND sk IN ['1', '2']"), "a:[1..1] | a:[2..2] | b:[1..1] | b:[2..2]");
  EXPECT_EQ(of("(pk = 'a' AND x = 1) OR (pk = 'b' AND sk > '1')"), "a:all filtered | b:(1..)");
}

TEST_F(Branches, LeaveOtherConditionsToTheFilter) {
  EXPECT_EQ(of("pk = 'a' AND (x = 1 OR y = 2)"), "a:all filtered");
  EXPECT_EQ(of("pk = 'a' AND x = 1 AND NOT y = 2"), "a:all filtered");
  EXPECT_EQ(of("pk = 'a' AND attribute_exists(pk)"), "a:all filtered");
  EXPECT_EQ(of("pk = 'a' AND sk > '0' AND sk <> '1'"), "a:(0..) filtered excluding");
  EXPECT_EQ(of("pk = 'a' AND NOT begins_with(sk, 'x')"), "a:all filtered excluding");
  EXPECT_EQ(of("pk = 'a' AND pk = 'b'"), "a:all impossible");
  EXPECT_EQ(of("pk = 'a' AND pk = 'a'"), "a:all");
  EXPECT_EQ(of("pk = 'a' AND sk = x"), "a:all filtered");
}

TEST_F(Branches, AreForWhatNamesThePartitionAlone) {
  for (const char* condition :
       {"x = 1", "pk > 'a'", "pk <> 'a'", "NOT pk = 'a'", "pk = 'a' OR x = 1", "pk = 'a' OR sk = '1'",
        "pk BETWEEN 'a' AND 'b'", "begins_with(pk, 'a')", "pk.x = 'a'", "pk = x"})
    EXPECT_EQ(of(condition), "scan") << condition;
}

TEST_F(Branches, HaveKeysOfTheSchemasTypes) {
  const std::string mismatch = "Key attribute's data type should match its data type in table's schema: Key ";
  EXPECT_EQ(of("pk = 1 OR pk = 'a'"), mismatch + "pk");
  EXPECT_EQ(of("pk = 'a' AND sk IN ['1', 2]"), mismatch + "sk");
  EXPECT_EQ(of("pk = 'a' AND sk > 1"), mismatch + "sk");
}

TEST_F(Branches, AreFiftyAtMost) {
  const std::string too_many = "Too many decomposed read operations for a given query.";
  EXPECT_EQ(of("pk IN [" + values(51) + "]"), too_many);
  EXPECT_EQ(of("pk = 'a' AND sk IN [" + values(51) + "]"), too_many);
  EXPECT_EQ(of("pk IN [" + values(26) + "] AND sk IN ['1','2']"), too_many);
  EXPECT_NE(of("pk IN [" + values(50) + "] AND x IN [" + values(100) + "]"), too_many);
  EXPECT_EQ(of("pk IN [" + values(51) + "] OR flag = 'one'"), "scan");
  std::string alternatives = "pk = 'a'";
  for (int i = 0; i < 40; ++i) alternatives += " AND (sk = '1' OR x = " + std::to_string(i) + ")";
  EXPECT_EQ(of(alternatives), too_many);
}

TEST(Intervals, OverlapWhereTheyShareAKey) {
  const auto compared = [](Operation operation, const char* value) { return Interval::compared(operation, value); };
  EXPECT_TRUE(compared(Operation::greater, "0").overlaps(compared(Operation::less, "5")));
  EXPECT_FALSE(compared(Operation::less, "1").overlaps(compared(Operation::greater, "1")));
  EXPECT_FALSE(compared(Operation::less, "1").overlaps(Interval::at("1")));
  EXPECT_TRUE(compared(Operation::less_equal, "1").overlaps(Interval::at("1")));
  EXPECT_TRUE(Interval().overlaps(Interval::at("1")));
  EXPECT_FALSE(Interval::starting_with("ab").overlaps(Interval::at("ac")));
  EXPECT_TRUE(Interval::starting_with("ab").overlaps(Interval::at("abc")));
  EXPECT_TRUE(Interval::starting_with("\xFF").overlaps(Interval::at("\xFF\xFF")));
  EXPECT_FALSE(compared(Operation::less, "1").intersection(compared(Operation::greater, "5")).overlaps(Interval()));
  EXPECT_TRUE(Interval::at(10).overlaps(Interval::between(9, 11)));
}

TEST(NextToken, IsAPositionAndBelongsToItsStatement) {
  const Statement given = statement("SELECT * FROM T WHERE pk = ?", {"a"});
  const std::string fingerprint = fingerprint_of(given);
  const PagePosition position{3, item::Key{{"pk", "a"}, {"sk", 7}}};
  const auto decoded = decode_token(fingerprint, encode_token(fingerprint, position));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, position);
  EXPECT_EQ(*decode_token(fingerprint, encode_token(fingerprint, {4, {}})), (PagePosition{4, {}}));

  const std::string token = encode_token(fingerprint, position);
  for (const Statement& other :
       {statement("SELECT * FROM T WHERE pk = ?", {"b"}), statement("SELECT * FROM U WHERE pk = ?", {"a"})})
    EXPECT_EQ(decode_token(fingerprint_of(other), token).error().message, "NextToken does not match request");
  for (const std::string& bad : {std::string("garbage"), std::string("AAAA"), token.substr(0, 20), std::string()})
    EXPECT_EQ(decode_token(fingerprint, bad).error().message, "Invalid NextToken") << bad;
}

// Clients keep tokens: this one must be readable for ever.
TEST(NextToken, HasTheSameBytesInEveryVersion) {
  const Statement given = statement("SELECT * FROM T WHERE pk = ?", {"a"});
  EXPECT_EQ(base::to_hex(fingerprint_of(given)), "411e8df9647735f44f29c65b7bf3e40c");
  EXPECT_EQ(encode_token(fingerprint_of(given), {3, item::Key{{"pk", "a"}}}), "AUEejflkdzX0TynGW3vz5AwDDQECcGsEAWE=");
}

}  // namespace
}  // namespace postino::partiql
