#include "partiql/syntax/parse.h"

#include <gtest/gtest.h>

#include "item/json_codec.h"

namespace postino::partiql {
namespace {

constexpr std::string_view not_well_formed_text = "Statement wasn't well formed, can't be processed: ";

// The message, with "~ " for the words before what is wrong with the form; "ok" when there is nothing wrong.
std::string outcome(std::string_view text) {
  const auto parsed = parse_statement(text);
  if (parsed) return "ok";
  const std::string& message = parsed.error().message;
  if (!message.starts_with(not_well_formed_text)) return message;
  return "~ " + message.substr(not_well_formed_text.size());
}

template <class Body>
Body parsed(std::string_view text) {
  const auto statement = parse_statement(text);
  EXPECT_TRUE(statement) << text << ": " << statement.error().message;
  if (!statement || !std::holds_alternative<Body>((*statement)->body)) return {};
  return std::get<Body>((*statement)->body);
}

// The value that a literal in a statement has.
std::string value_of(std::string_view literal) {
  const auto update = parsed<Update>("UPDATE t SET a = " + std::string(literal) + " WHERE pk = 'x'");
  if (update.actions.empty() || update.actions[0].value->kind != ExpressionKind::literal) return "none";
  return item::to_json(update.actions[0].value->value);
}

std::string refused(std::string_view literal) {
  return outcome("UPDATE t SET a = " + std::string(literal) + " WHERE pk = 'x'");
}

TEST(Parse, TakesEveryFormOfStatement) {
  EXPECT_EQ(outcome("SELECT * FROM Music"), "ok");
  EXPECT_EQ(outcome("select a, b.c[0] from \"Music\".\"ByYear\" where a = 1 order by a desc, b;"), "ok");
  EXPECT_EQ(outcome("INSERT INTO \"Music\" value {'a': 1}"), "ok");
  EXPECT_EQ(outcome("UPDATE \"Music\" SET a = 1 SET b = 2, c = 3 REMOVE d WHERE k = 'x' RETURNING ALL OLD *"), "ok");
  EXPECT_EQ(outcome("DELETE FROM \"Music\" WHERE k = 'x' RETURNING ALL OLD *"), "ok");
  EXPECT_EQ(outcome("FROM \"Music\" WHERE k = 'x' SET a = 1 REMOVE b RETURNING MODIFIED NEW *"), "ok");
  EXPECT_EQ(outcome("EXISTS(SELECT * FROM \"Music\" WHERE k = 'x' AND a IS MISSING)"), "ok");
}

TEST(Parse, KeepsWhatTheStatementSays) {
  const auto select = parsed<Select>("SELECT m.k[0], \"od\"\"d\", l[-0] FROM \"T\".\"I\" WHERE a = 1 ORDER BY b DESC");
  EXPECT_EQ(select.from.table, "T");
  EXPECT_EQ(select.from.index, "I");
  ASSERT_EQ(select.columns->size(), 3U);
  EXPECT_EQ((*select.columns)[0].name, "k[0]");
  EXPECT_EQ((*select.columns)[1].name, "od\"d");
  EXPECT_EQ((*select.columns)[2].name, "l[0]");
  ASSERT_EQ(select.order.size(), 1U);
  EXPECT_TRUE(select.order[0].descending);

  const auto insert = parsed<Insert>("INSERT INTO T VALUE {'a': ?, 'b': 'it''s'}");
  ASSERT_EQ(insert.members.size(), 2U);
  EXPECT_EQ(insert.members[0].value.kind, ExpressionKind::parameter);
  EXPECT_EQ(insert.members[1].value.value, item::AttributeValue("it's"));

  const auto update = parsed<Update>("UPDATE T SET a['b'] = ?, c = ? REMOVE d[2] WHERE k = ?");
  ASSERT_EQ(update.actions.size(), 3U);
  EXPECT_EQ(update.actions[0].target, (Path{{"a", {}}, {"b", {}}}));
  EXPECT_EQ(update.actions[1].value->number, 1U);
  EXPECT_EQ(update.actions[2].target, (Path{{"d", {}}, {"", 2}}));
  EXPECT_FALSE(update.actions[2].value);
}

TEST(Parse, CountsParameters) {
  const auto statement = parse_statement("SELECT * FROM T WHERE a = ? AND b IN [?, 2, ?] AND c = '?'");
  ASSERT_TRUE(statement);
  EXPECT_EQ((*statement)->parameter_count, 3U);
}

TEST(Parse, ReadsLiterals) {
  EXPECT_EQ(value_of("'text'"), R"({"S":"text"})");
  EXPECT_EQ(value_of("''"), R"({"S":""})");
  EXPECT_EQ(value_of("TRUE"), R"({"BOOL":true})");
  EXPECT_EQ(value_of("null"), R"({"NULL":true})");
  EXPECT_EQ(value_of("[1, 'a', {}, []]"), R"({"L":[{"N":"1"},{"S":"a"},{"M":{}},{"L":[]}]})");
  EXPECT_EQ(value_of("{'b': 1, 'a': {'c': <<'x', 'y'>>}}"),
            R"({"M":{"a":{"M":{"c":{"SS":["x","y"]}}},"b":{"N":"1"}}})");
  EXPECT_EQ(value_of("<<1, 34, -2.50>>"), R"({"NS":["-2.5","1","34"]})");
}

TEST(Parse, ReadsNumbersOfEveryForm) {
  EXPECT_EQ(value_of("7.31e6"), R"({"N":"7310000"})");
  EXPECT_EQ(value_of("73100000E-1"), R"({"N":"7310000"})");
  EXPECT_EQ(value_of("7.31e+6"), R"({"N":"7310000"})");
  EXPECT_EQ(value_of("-.73e1"), R"({"N":"-7.3"})");
  EXPECT_EQ(value_of("- - 1"), R"({"N":"1"})");
  EXPECT_EQ(value_of("-/* c */-+1"), R"({"N":"1"})");
  EXPECT_EQ(value_of("-0"), R"({"N":"0"})");
  EXPECT_EQ(value_of("12345678901234567890123456789012345678"), R"({"N":"12345678901234567890123456789012345678"})");
}

TEST(Parse, RefusesNumbersThatCannotBeStored) {
  EXPECT_EQ(refused("1e126"),
            "Number overflow. Attempting to store a number with magnitude larger than supported range under root");
  EXPECT_EQ(refused("1e-131"),
            "Number underflow. Attempting to store a number with magnitude smaller than supported range under root");
  EXPECT_EQ(refused("123456789012345678901234567890123456789"),
            "Attempting to store more than 38 significant digits in a Number under root");
  EXPECT_EQ(outcome("INSERT INTO T VALUE {'pk': 1, 'm': {'x': 1e126}}"),
            "Number overflow. Attempting to store a number with magnitude larger than supported range under root.x");
  EXPECT_EQ(outcome("INSERT INTO T VALUE {'pk': 1, 'l': [1, 1e126]}"),
            "Number overflow. Attempting to store a number with magnitude larger than supported range under root[1]");
}

TEST(Parse, RefusesWhatIsNoToken) {
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1e2147483648"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1e99999999999"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1.5e-2147483647"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1 # note"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1 /* note"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM \"T"), "~ ");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 'open"), "~ ");
}

TEST(Parse, SkipsComments) {
  EXPECT_EQ(outcome("-- a note\nSELECT/**/* FROM T -- the table\nWHERE pk/* key */='c' --"), "ok");
  const auto update = parsed<Update>("UPDATE T SET n=n--1 WHERE pk='x'");
  EXPECT_FALSE(update.where);
}

TEST(Parse, RefusesBagsThatAreNoSets) {
  EXPECT_EQ(refused("<<>>"), "Empty bags are not supported");
  EXPECT_EQ(refused("<<1, 'a'>>"),
            "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
  EXPECT_EQ(refused("<<?>>"), "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
  EXPECT_EQ(refused("<<'b','b'>>"),
            "One or more parameter values were invalid: Input collection [b, b] contains duplicates.");
  EXPECT_EQ(refused("<<2, 2.0>>"),
            "One or more parameter values were invalid: Input collection [2, 2.0] contains duplicates! under root");
  EXPECT_EQ(refused("[<<'a','a'>>]"),
            "One or more parameter values were invalid: Input collection [a, a] contains duplicates.");
}

TEST(Parse, RefusesWhatIsNoValueInALiteral) {
  EXPECT_EQ(outcome("UPDATE T SET x = [?] WHERE pk='a'"),
            "Unsupported data type: Parameter under key root[0] at 1:19:1");
  EXPECT_EQ(outcome("INSERT INTO T VALUE {'pk':'a','m':{'k':?}}"),
            "Unsupported data type: Parameter under key root.k at 1:40:1");
  EXPECT_EQ(outcome("INSERT INTO T VALUE {'pk': 'a', 'ss': set_add(<<'a'>>, <<'b'>>)}"),
            "Unsupported data type: set_add under key root at 1:39:7");
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(Parse, RefusesLiteralsThatAreTooDeep) {
  const auto maps = [](int depth) { return repeated("{'a':", depth) + "1" + repeated("}", depth); };
  EXPECT_EQ(refused(maps(31)), "ok");
  EXPECT_EQ(refused(maps(32)), "Nesting Levels have exceeded supported limits under root" + repeated(".a", 32));
  EXPECT_EQ(refused("{'a':" + repeated("[", 31) + "1" + repeated("]", 31) + "}"),
            "Nesting Levels have exceeded supported limits under root.a" + repeated("[0]", 31));
}

TEST(Parse, RefusesWhatIsLeftOver) {
  const std::string left_over = "~ Unexpected token after expression";
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1 foo"), left_over);
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1 e5"), left_over);
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 1)"), left_over);
  EXPECT_EQ(outcome("INSERT INTO T VALUE {'pk': 1} foo"), left_over);
  EXPECT_EQ(outcome("INSERT INTO T t VALUE {'pk': 'x'}"), left_over);
  EXPECT_EQ(outcome("UPDATE T SET a = 9 WHERE pk = 1 foo"), left_over);
  EXPECT_EQ(outcome("DELETE FROM T WHERE pk = 1 foo"), left_over);
  EXPECT_EQ(outcome("DELETE FROM T WHERE pk = 1 ORDER BY pk"), left_over);
  EXPECT_EQ(outcome("SELECT * FROM T ORDER BY pk WHERE pk = 1"), left_over);
  EXPECT_EQ(outcome("FROM T SET c = 1 WHERE pk = 'a'"), left_over);
  EXPECT_EQ(outcome("FROM T SET c = 1 WHERE pk = 'a' SET d = 2"), left_over);
  EXPECT_EQ(outcome("SELECT * FROM T; SELECT * FROM T"), left_over);
}

TEST(Parse, SaysWhatIsMissing) {
  for (const char* statement : {"SELECT * FROM T WHERE", "SELECT * FROM T WHERE;", "SELECT * FROM T WHERE   ",
                                "SELECT pk FROM T WHERE", "UPDATE T SET a = 1 WHERE", "DELETE FROM T WHERE",
                                "SELECT * FROM T WHERE NOT", "SELECT * FROM T WHERE (", "SELECT * FROM"})
    EXPECT_EQ(outcome(statement), "~ Unexpected term") << statement;
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 'p1' AND"), "~ Missing right-hand side expression of infix operator");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 'p1' OR"), "~ Missing right-hand side expression of infix operator");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE ORDER BY pk"), "~ Unexpected keyword");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE IS NULL"), "~ Unexpected operator");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = LIKE"), "~ Unexpected operator");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE pk = 'a' AND x IS FOO"), "~ Expected type name");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE attribute_exists(m.inner)"), "~ Invalid path dot component");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE (pk = 1"), "~ Expected RIGHT_PAREN");
  for (const char* statement : {"DELETE FROM", "DELETE FROM   ", "DELETE FROM;", "DELETE FROM WHERE pk = 'a'"})
    EXPECT_EQ(outcome(statement), "~ Expected identifier for simple path") << statement;
  EXPECT_EQ(outcome("SLECT * FROM \"T\" WHERE pk = 'x'"), "~ Expected data manipulation");
  EXPECT_EQ(outcome("UPDATE Payment-dev SET active=? WHERE id=?"), "~ Expected data manipulation");
  EXPECT_EQ(outcome("SELECTT * FROMM \"T\""), "~ Unexpected token after expression");
  EXPECT_NE(outcome(""), "ok");
  EXPECT_NE(outcome("-- nothing"), "ok");
}

TEST(Parse, RefusesExpressionsThatAreNoStatements) {
  for (const char* type : {"INT4", "INT8", "DOUBLE PRECISION", "CHARACTER VARYING"})
    EXPECT_EQ(outcome("x IS " + std::string(type)), "Unsupported operation: IsType");
}

TEST(Parse, RefusesAliases) {
  for (const char* statement :
       {"SELECT * FROM T t WHERE pk = 'x'", "SELECT * FROM T AS t WHERE pk = 'x'",
        "UPDATE T t SET a = 3 WHERE pk = 'x'", "DELETE FROM T t WHERE pk = 'x'", "SELECT a AS b FROM T WHERE pk = 'x'"})
    EXPECT_EQ(outcome(statement), "Aliasing is not supported") << statement;
}

TEST(Parse, RefusesTablesThatAreNone) {
  EXPECT_EQ(outcome("SELECT * FROM T.i.j WHERE pk = 'p'"),
            "A path may contain at most 2 components in the FROM clause");
  EXPECT_EQ(outcome("SELECT * FROM T.\"\" WHERE pk = 'p'"), "Path component cannot be an empty string");
  EXPECT_EQ(outcome("SELECT * FROM \"\" WHERE pk = 'p'"), "Path component cannot be an empty string");
  EXPECT_EQ(outcome("INSERT INTO T.i VALUE {'pk': 'w'}"),
            "FROM clause may only contain a single table name in data manipulation statements at 1:13:1");
}

TEST(Parse, SaysWhereTheFaultIs) {
  EXPECT_EQ(outcome("SELECT l[-1] FROM T WHERE pk='i'"),
            "List index is not within the allowable range; index: [-1] at 1:11:1");
  EXPECT_EQ(outcome("SELECT l[2147483648] FROM T WHERE pk='i'"),
            "List index is not within the allowable range; index: [2147483648] at 1:10:10");
  EXPECT_EQ(outcome("SELECT l[2147483647] FROM T WHERE pk='i'"), "ok");
  EXPECT_EQ(outcome("SELECT id FROM pages LIMIT 5"), "Unsupported clause: LIMIT at 1:28:1");
  // Columns are counted in characters, and lines from the last line end.
  EXPECT_EQ(outcome("SELECT\n \"äöü\", l[-1] FROM T"),
            "List index is not within the allowable range; index: [-1] at 2:12:1");
}

TEST(Parse, LeavesFaultsOfColumnsToThePlan) {
  EXPECT_EQ(parsed<Select>("SELECT COUNT(*) FROM T").column_fault, "Unexpected path component at 1:8:5");
  EXPECT_EQ(parsed<Select>("SELECT attribute_exists(ss) FROM T").column_fault, "Unexpected path component at 1:8:16");
  EXPECT_EQ(parsed<Select>("SELECT a, m.a FROM T").column_fault, "Duplicate identifiers in select clause: a");
}

TEST(Parse, AnswersHostileNestingWithAnError) {
  for (const int depth : {200, 4'000}) {
    EXPECT_NE(outcome("SELECT * FROM T WHERE " + repeated("(", depth) + "a = 1" + repeated(")", depth)), "ok");
    EXPECT_NE(outcome("SELECT * FROM T WHERE a = " + repeated("[", depth) + repeated("]", depth)), "ok");
    EXPECT_NE(outcome("UPDATE T SET a = " + repeated("{'a':", depth / 4)), "ok");
    EXPECT_NE(outcome("SELECT * FROM T WHERE " + repeated("a = ", depth / 2) + "1"), "ok");
    EXPECT_NE(outcome("UPDATE T SET a = " + repeated("1 + ", depth / 2) + "1"), "ok");
    EXPECT_NE(outcome("SELECT * FROM T WHERE " + repeated("f(", depth) + repeated(")", depth)), "ok");
    EXPECT_NE(outcome("SELECT a" + repeated("[a", depth) + repeated("]", depth) + " FROM T"), "ok");
    EXPECT_NE(outcome(repeated("FROM ", depth)), "ok");
  }
  EXPECT_EQ(outcome("SELECT * FROM T WHERE " + repeated("NOT ", 1'000) + "a = 1"), "ok");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE a = " + repeated("- ", 1'000) + "1"), "ok");
  EXPECT_EQ(outcome("SELECT * FROM T WHERE a = 1" + repeated(" AND a = 1", 500)), "ok");
}

TEST(Parse, RemembersStatements) {
  const auto first = cached_statement("SELECT * FROM Remembered");
  const auto second = cached_statement("SELECT * FROM Remembered");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_FALSE(cached_statement("SELECT * FROM"));
}

}  // namespace
}  // namespace postino::partiql
