#include "statement_runner.h"

namespace postino::partiql {
namespace {

using testing::HasSubstr;

// A table with a sort key, "Songs", and one without, "H".
class Read : public StatementTest {
 protected:
  Read() {
    create(table("Songs", "pk:S", "sk:S"));
    create(table("Hash", "pk:S"));
    create(table("Numbers", "pk:S", "sk:N"));
  }

  void put_three(const std::string& pk) {
    for (const char* sk : {"1", "2", "3"})
      put("Songs", R"({"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + R"("},"v":{"S":")" + pk + sk + R"("}})");
  }

  // Sort keys of what a condition selects.
  std::string keys(const std::string& condition) { return column("sk", "SELECT * FROM Songs WHERE " + condition); }
};

TEST_F(Read, FindsAnItemByItsKey) {
  put("Hash", R"({"pk":{"S":"a"},"data":{"S":"x"}})");
  EXPECT_EQ(run("SELECT * FROM \"Hash\" WHERE pk = 'a'"), R"({"data":{"S":"x"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("SELECT * FROM \"Hash\" WHERE pk = ?", {R"({"S":"a"})"}), R"({"data":{"S":"x"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("SELECT * FROM Hash WHERE pk = 'b'"), "");
  EXPECT_EQ(run("SELECT data FROM Hash WHERE pk = 'a' AND data > 'y'"), "");
  EXPECT_EQ(run("SELECT data FROM Hash WHERE pk = 'a' AND data >= 'x'"), R"({"data":{"S":"x"}})");
}

TEST_F(Read, TakesTheTablesArn) {
  put("Hash", R"({"pk":{"S":"a"}})");
  const std::string arn = store().describe_table("Hash")->arn;
  EXPECT_EQ(run("SELECT * FROM \"" + arn + "\" WHERE pk = 'a'"), R"({"pk":{"S":"a"}})");
}

TEST_F(Read, ReadsRunsOfSortKeys) {
  put_three("a");
  put_three("b");
  EXPECT_EQ(keys("pk = 'a'"), "1 2 3");
  EXPECT_EQ(keys("pk = 'a' AND sk = '2'"), "2");
  EXPECT_EQ(keys("pk = 'a' AND sk > '1'"), "2 3");
  EXPECT_EQ(keys("pk = 'a' AND sk >= '2' AND sk < '3'"), "2");
  EXPECT_EQ(keys("pk = 'a' AND sk BETWEEN '1' AND '2'"), "1 2");
  EXPECT_EQ(keys("pk = 'a' AND begins_with(\"sk\", '3')"), "3");
  EXPECT_EQ(keys("pk = 'a' AND sk='1' AND sk > '0'"), "1");
  EXPECT_EQ(keys("pk = 'a' AND sk > '0' AND sk <> '1'"), "2 3");
  EXPECT_EQ(keys("pk = 'a' AND NOT sk = '1'"), "2 3");
  EXPECT_EQ(keys("pk = 'a' AND attribute_exists(pk)"), "1 2 3");
  EXPECT_EQ(keys("pk = 'a' AND sk > '5' AND sk < '1'"), "");
  EXPECT_EQ(keys("pk = 'a' AND pk = 'b'"), "");
}

TEST_F(Read, ReadsSeveralRunsOneAfterTheOther) {
  put_three("a");
  put_three("b");
  EXPECT_EQ(keys("pk = 'a' AND (sk = '1' OR sk = '3')"), "1 3");
  EXPECT_EQ(keys("pk = 'a' AND sk IN ['3', '1']"), "3 1");
  EXPECT_EQ(keys("pk = 'a' AND (sk < '1' OR sk > '1' OR sk='1')"), "2 3 1");
  EXPECT_EQ(column("v", "SELECT * FROM Songs WHERE pk IN ['b', 'a'] AND sk > '2'"), "b3 a3");
  EXPECT_EQ(column("v", "SELECT * FROM Songs WHERE (pk = 'a' AND v = 'a2') OR (pk = 'b' AND sk = '1')"), "a2 b1");
}

TEST_F(Read, ScansWhatNamesNoPartition) {
  put_three("a");
  put("Songs", R"({"pk":{"S":"b"},"sk":{"S":"1"},"mark":{"N":"1"}})");
  EXPECT_EQ(keys("mark = 1"), "1");
  EXPECT_EQ(keys("pk = 'b' OR sk = '3'").size(), 3U);
  EXPECT_EQ(keys("pk > 'a'"), "1");
  EXPECT_EQ(keys("pk > 1"), "");
  EXPECT_EQ(column("mark", "SELECT mark FROM Songs WHERE attribute_exists(mark)"), "1");
}

// Alternatives that say what the sort key must not be cannot overlap, and give their union.
TEST_F(Read, JoinsAlternativesThatExcludeSortKeys) {
  put_three("p");
  const auto beside = [&](const std::string& left) {
    return keys("pk = 'p' AND " + left + " OR pk = 'p' AND sk = '2'");
  };
  EXPECT_EQ(beside("NOT sk = '1'"), "2 3");
  EXPECT_EQ(beside("sk <> '1'"), "2 3");
  EXPECT_EQ(beside("NOT begins_with(sk, 'x')"), "1 2 3");
  EXPECT_EQ(beside("NOT sk IN ['1', '3']"), "2");
  EXPECT_EQ(beside("NOT sk > '5'"), "1 2 3");
  EXPECT_EQ(beside("NOT (sk = '1')"), "2 3");
  EXPECT_EQ(keys("pk = 'p' OR pk = 'p' AND NOT sk = '1'"), "1 2 3");
}

TEST_F(Read, RefusesAlternativesThatOverlap) {
  const std::string overlapping =
      "ValidationException: Overlapping conditions with range keys are not supported in where clause";
  for (const char* condition :
       {"pk IN ['r','r']", "pk='r' OR pk='r'", "pk='r' AND (sk > '0' OR sk < '5')", "pk='r' AND (sk='1' OR flag='two')",
        "(pk='r' AND flag='one') OR (pk='r' AND flag='two')", "pk = 'a' AND x <> '1' OR pk = 'a' AND sk = '2'"})
    EXPECT_EQ(keys(condition), overlapping) << condition;
}

TEST_F(Read, RefusesKeysOfAnotherType) {
  EXPECT_EQ(keys("pk = 1"),
            "ValidationException: Key attribute's data type should match its data type in table's schema: Key pk");
  EXPECT_EQ(keys("pk = 'r' AND sk IN ['1', 2]"),
            "ValidationException: Key attribute's data type should match its data type in table's schema: Key sk");
}

TEST_F(Read, NamesColumnsAfterTheLastPartOfTheirPaths) {
  put("Hash", R"({"pk":{"S":"a"},"m":{"M":{"k":{"L":[{"S":"c"},{"S":"d"}]},"z":{"N":"1"}}},"extra":{"S":"e"}})");
  EXPECT_EQ(run("SELECT m.z FROM Hash WHERE pk = 'a'"), R"({"z":{"N":"1"}})");
  EXPECT_EQ(run("SELECT m.k[0], m.k[1], m.k[2], m.nope FROM Hash WHERE pk = 'a'"),
            R"({"k[0]":{"S":"c"},"k[1]":{"S":"d"}})");
  EXPECT_EQ(run("SELECT pk, m.k FROM Hash WHERE pk = 'a'"), R"({"k":{"L":[{"S":"c"},{"S":"d"}]},"pk":{"S":"a"}})");
  EXPECT_EQ(run("SELECT nope FROM Hash WHERE pk = 'a'"), "{}");
  EXPECT_EQ(run("SELECT a, m.a FROM Hash WHERE pk = 'a'"),
            "ValidationException: Duplicate identifiers in select clause: a");
  EXPECT_EQ(run("SELECT COUNT(*) FROM Absent"), "ValidationException: Unexpected path component at 1:8:5");
}

TEST_F(Read, OrdersByTheKey) {
  put_three("o");
  put_three("p");
  const auto ordered = [&](const std::string& rest) { return column("v", "SELECT v FROM Songs WHERE " + rest); };
  EXPECT_EQ(ordered("pk = 'o' ORDER BY sk DESC"), "o3 o2 o1");
  EXPECT_EQ(ordered("pk = 'o' ORDER BY sk"), "o1 o2 o3");
  EXPECT_EQ(ordered("pk = 'o' ORDER BY pk ASC"), "o3 o2 o1");
  EXPECT_EQ(ordered("pk IN ['o', 'p'] ORDER BY pk DESC, sk ASC"), "p1 p2 p3 o1 o2 o3");
  EXPECT_EQ(ordered("pk IN ['p', 'o'] ORDER BY sk DESC, pk"), "o3 o2 o1 p3 p2 p1");
  EXPECT_EQ(ordered("pk = 'o' AND sk IN ['1', '3', '2'] ORDER BY sk DESC"), "o3 o2 o1");
  EXPECT_EQ(ordered("pk = 'o' AND (sk > '2' OR sk < '2') ORDER BY sk"), "o1 o3");
}

TEST_F(Read, OrdersNumbersByTheirSize) {
  for (const char* number : {"-3", "2", "10"})
    put("Numbers", R"({"pk":{"S":"a"},"sk":{"N":")" + std::string(number) + "\"}}");
  EXPECT_EQ(column("sk", "SELECT * FROM Numbers WHERE pk = 'a' ORDER BY sk DESC"), "10 2 -3");
  EXPECT_EQ(column("sk", "SELECT * FROM Numbers WHERE pk = 'a' AND sk IN [10, -3, 2e0] ORDER BY sk"), "-3 2 10");
  EXPECT_EQ(column("sk", "SELECT * FROM Numbers WHERE pk = 'a' AND sk > -3.5 AND sk < 1e1"), "-3 2");
}

TEST_F(Read, RefusesAnOrderItCannotServe) {
  EXPECT_EQ(run("SELECT sk FROM Songs ORDER BY sk"),
            "ValidationException: Must have WHERE clause in the statement when using ORDER BY clause.");
  EXPECT_EQ(run("SELECT sk FROM Songs WHERE pk = 'o' ORDER BY Total DESC"),
            "ValidationException: Attribute Total in ORDER BY clause must be part of the primary key");
  EXPECT_EQ(run("SELECT sk FROM Songs WHERE pk > 'a' ORDER BY sk"),
            "ValidationException: Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause.");
  EXPECT_EQ(
      run("SELECT sk FROM Songs WHERE pk IN ['o', 'p'] ORDER BY sk DESC"),
      "ValidationException: Must have hash key in ORDER BY clause when more than one hash key condition specified "
      "in WHERE clause.");
}

TEST_F(Read, RefusesTablesThatAreNotThere) {
  const std::string missing = "ResourceNotFoundException: Requested resource not found";
  EXPECT_EQ(run("SELECT * FROM Absent WHERE pk = 'x'"), missing);
  EXPECT_EQ(run("SELECT * FROM \"no\" WHERE pk = 'x'"), missing);
  EXPECT_EQ(run("FROM Absent WHERE pk = 'x' SET c = 1"), missing);
  EXPECT_EQ(run("INSERT INTO Absent VALUE {'pk': 'x'}"), missing);
}

TEST_F(Read, ChecksTheStatementBeforeItLooksForTheTable) {
  EXPECT_EQ(run("SELECT pk FROM Absent WHERE pk = ? AND val < ?", {R"({"S":"x"})", R"({"BOOL":true})"}),
            "ValidationException: Incorrect operand type for operator or function; operator or function: <, operand "
            "type: BOOL");
  EXPECT_EQ(run("SELECT * FROM \"\" WHERE pk = 'x'"), "ValidationException: Path component cannot be an empty string");
  EXPECT_EQ(run("UPDATE Absent.i SET a = 'z' WHERE pk = 'p'"),
            "ValidationException: This operation is not supported on an index");
}

TEST_F(Read, ChecksTheShapeOfTheRequest) {
  EXPECT_EQ(run(""),
            "ValidationException: 1 validation error detected: Value '' at 'statement' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1");
  std::string longest = "SELECT * FROM Hash WHERE pk = '" + std::string(8'192, 'x');
  longest.resize(8'191);
  longest += "'";
  EXPECT_THAT(run(longest), HasSubstr("Size of hashkey has exceeded the maximum size limit of2048 bytes"));
  EXPECT_THAT(run(longest + " "), HasSubstr("Member must have length less than or equal to 8192"));

  ExecuteStatementRequest request{.statement = statement("SELECT * FROM Hash")};
  request.limit = 0;
  EXPECT_EQ(
      engine::outcome(execute(request)),
      "ValidationException: 1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member "
      "must have value greater than or equal to 1");
  request.limit.reset();
  request.statement.has_parameters = true;
  EXPECT_EQ(
      engine::outcome(execute(request)),
      "ValidationException: 1 validation error detected: Value '[]' at 'parameters' failed to satisfy constraint: "
      "Member must have length greater than or equal to 1");
}

class Paging : public Read {
 protected:
  // Reads to the end with a limit, and shows the pages.
  std::string pages(const std::string& name, const std::string& text, int limit) {
    std::string shown;
    ExecuteStatementRequest request{.statement = statement(text)};
    request.limit = limit;
    for (int page = 0; page < 50; ++page) {
      const auto answer = execute(request);
      if (!answer) return engine::outcome(answer);
      if (page > 0) shown += " |";
      for (const item::Item& item : answer->items) shown += " " + item.find(name)->as<std::string>();
      if (!answer->next_token) return shown;
      request.next_token = answer->next_token;
    }
    return shown + " ...";
  }
};

TEST_F(Paging, CountsItemsExamined) {
  put_three("a");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk = 'a'", 2), " a1 a2 | a3");
  EXPECT_EQ(pages("v", "SELECT v FROM Songs WHERE pk = 'a' AND v <> 'a1'", 1), " | a2 | a3 |");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk = 'a' ORDER BY sk DESC", 2), " a3 a2 | a1");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk = 'a' AND sk = '1'", 1), " a1");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE v = 'a3'", 2), " | a3");
}

TEST_F(Paging, GoesOnAcrossRuns) {
  put_three("o");
  put_three("p");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk IN ['o', 'p'] ORDER BY pk DESC", 2), " p3 p2 | p1 o3 | o2 o1 |");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk IN ['o', 'x', 'p'] AND sk = '2'", 1), " o2 | p2");
  EXPECT_EQ(pages("v", "SELECT * FROM Songs WHERE pk IN ['o', 'p'] AND sk IN ['3', '1']", 3), " o3 o1 p3 | p1");
}

TEST_F(Paging, EndsAPageAtAMegabyte) {
  const std::string filling(300'000, 'x');
  for (const char* pk : {"a", "b", "c", "d", "e"})
    put("Hash", R"({"pk":{"S":")" + std::string(pk) + R"("},"f":{"S":")" + filling + "\"}}");
  ExecuteStatementRequest request{.statement = statement("SELECT * FROM Hash WHERE pk IN ['a','b','c','d','e']")};
  auto answer = execute(request);
  ASSERT_TRUE(answer && answer->next_token);
  EXPECT_EQ(answer->items.size(), 4U);
  request.next_token = answer->next_token;
  answer = execute(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->items.size(), 1U);
  EXPECT_FALSE(answer->next_token);
}

TEST_F(Paging, ReturnsTheLastKeyBesideTheToken) {
  put_three("a");
  ExecuteStatementRequest request{.statement = statement("SELECT v FROM Songs WHERE pk = 'a'")};
  request.limit = 1;
  const auto answer = execute(request);
  ASSERT_TRUE(answer && answer->last_evaluated_key);
  EXPECT_EQ(*answer->last_evaluated_key, (item::Key{{"pk", "a"}, {"sk", "1"}}));
}

TEST_F(Paging, TokensBelongToTheirStatementAndOutliveTheProcess) {
  put_three("a");
  ExecuteStatementRequest request{.statement = statement("SELECT * FROM Songs WHERE pk = ?", {R"({"S":"a"})"})};
  request.limit = 2;
  request.next_token = execute(request)->next_token;
  reopen();
  request.limit.reset();
  request.consistent_read = true;
  EXPECT_EQ(execute(request)->items.size(), 1U);

  request.statement = statement("SELECT * FROM Songs WHERE pk = ?", {R"({"S":"b"})"});
  EXPECT_EQ(engine::outcome(execute(request)), "ValidationException: NextToken does not match request");
  request.next_token = "garbage";
  EXPECT_EQ(engine::outcome(execute(request)), "ValidationException: Invalid NextToken");
}

TEST_F(Read, ReportsTheCapacityOfAllItsReads) {
  put_three("a");
  put_three("b");
  ExecuteStatementRequest request{.statement = statement("SELECT * FROM Songs WHERE pk IN ['a', 'b']")};
  EXPECT_FALSE(execute(request)->consumed_capacity);
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  EXPECT_EQ(execute(request)->consumed_capacity->total, 1);
  request.consistent_read = true;
  EXPECT_EQ(execute(request)->consumed_capacity->total, 2);
  request.statement = statement("SELECT * FROM Songs WHERE pk = 'a' AND sk = '1'");
  EXPECT_EQ(execute(request)->consumed_capacity->table_name, "Songs");
  EXPECT_EQ(execute(request)->consumed_capacity->total, 1);
}

// One table with indexes of every projection.
class IndexRead : public StatementTest {
 protected:
  IndexRead() {
    store::CreateTableRequest request = table("Indexed", "pk:S", "sk:S");
    add_global_index(request, "gsi-all", "gsiPk:S");
    add_global_index(request, "gsi-inc", "gsiPk2:S", {}, store::ProjectionType::include, {"projattr"});
    add_global_index(request, "gsi-keys", "gsiPk2:S", {}, store::ProjectionType::keys_only);
    add_local_index(request, "lsi-all", "lsiSk:S");
    add_local_index(request, "lsi-keys", "lsiSk2:S", store::ProjectionType::keys_only);
    create(request);
    put("Indexed", R"({"pk":{"S":"p"},"sk":{"S":"s1"},"gsiPk":{"S":"x"},"gsiPk2":{"S":"y"},"lsiSk":{"S":"l1"},
        "lsiSk2":{"S":"k1"},"projattr":{"S":"proj1"},"nonproj":{"S":"np1"}})");
    put("Indexed", R"({"pk":{"S":"p"},"sk":{"S":"s2"},"gsiPk":{"S":"z"},"gsiPk2":{"S":"y"},"lsiSk":{"S":"l2"},
        "lsiSk2":{"S":"k2"},"projattr":{"S":"proj2"},"nonproj":{"S":"np2"}})");
    put("Indexed", R"({"pk":{"S":"p"},"sk":{"S":"s3"},"nonproj":{"S":"np3"}})");
    put("Indexed", R"({"pk":{"S":"q"},"sk":{"S":"s5"},"gsiPk2":{"S":"y2"},"projattr":{"S":"proj5"},
        "nonproj":{"S":"np5"}})");
  }

  std::string keys(const std::string& index, const std::string& condition) {
    std::string text = column("sk", "SELECT sk FROM \"Indexed\".\"" + index + "\" WHERE " + condition);
    return text;
  }
};

TEST_F(IndexRead, SeesWhatTheIndexHolds) {
  EXPECT_EQ(keys("gsi-all", "gsiPk = 'x'"), "s1");
  EXPECT_EQ(run("SELECT * FROM Indexed.\"gsi-keys\" WHERE gsiPk2 = 'y2'"),
            R"({"gsiPk2":{"S":"y2"},"pk":{"S":"q"},"sk":{"S":"s5"}})");
  EXPECT_EQ(run("SELECT * FROM Indexed.\"gsi-inc\" WHERE gsiPk2 = 'y2'"),
            R"({"gsiPk2":{"S":"y2"},"pk":{"S":"q"},"projattr":{"S":"proj5"},"sk":{"S":"s5"}})");
  EXPECT_EQ(run("SELECT * FROM Indexed.\"lsi-keys\" WHERE pk = 'p' AND lsiSk2 > 'k1'"),
            R"({"lsiSk2":{"S":"k2"},"pk":{"S":"p"},"sk":{"S":"s2"}})");
  EXPECT_EQ(keys("gsi-all", "pk = 'p' AND sk = 's2'"), "s2");
  EXPECT_EQ(column("nonproj", "SELECT nonproj FROM Indexed.\"lsi-keys\" WHERE pk = 'p'"), "np1 np2");
}

TEST_F(IndexRead, RefusesColumnsThatAGlobalIndexLacks) {
  EXPECT_EQ(run("SELECT nonproj, other FROM Indexed.\"gsi-inc\" WHERE gsiPk2 = 'y'"),
            "ValidationException: One or more parameter values were invalid: Global secondary index gsi-inc does not "
            "project [nonproj, other]");
}

TEST_F(IndexRead, RefusesFiltersThatTheIndexLacksWhenItIsReadByKey) {
  const std::string refused =
      "ValidationException: One or more parameter values were invalid: Secondary index gsi-inc does not project one or "
      "more filter attributes: ";
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND nonproj = 'np1'"), refused + "[nonproj]");
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND nonproj IS MISSING"), refused + "[nonproj]");
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND NOT (nonproj='np1' OR projattr='x')"), refused + "[nonproj]");
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND b='1' AND (a='2' OR projattr='3')"), refused + "[a, b]");
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND (zz='1' OR aa='2' OR mm='3')"), refused + "[zz, aa, mm]");
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 IN ['y', 'z'] AND nonproj = 'np1'"), refused + "[nonproj]");
  EXPECT_EQ(keys("gsi-inc", "(gsiPk2='b' AND u1='1') OR (gsiPk2='q' AND u2='1')"), refused + "[u2]");
  EXPECT_EQ(keys("gsi-inc", "(gsiPk2='q' AND u1='1') OR (gsiPk2='b' AND u2='1')"), refused + "[u1]");
  EXPECT_THAT(keys("lsi-keys", "pk = 'p' AND lsiSk2 BETWEEN 'k1' AND 'k4' AND nonproj = 'np1'"),
              HasSubstr("Secondary index lsi-keys does not project one or more filter attributes: [nonproj]"));
  EXPECT_EQ(keys("gsi-inc", "gsiPk2 = 'y' AND projattr = 'proj2'"), "s2");
}

TEST_F(IndexRead, FiltersWhatTheIndexHoldsWhenItIsScanned) {
  EXPECT_EQ(keys("gsi-inc", "nonproj = 'np1'"), "");
  EXPECT_EQ(keys("lsi-keys", "nonproj = 'np1'"), "");
  EXPECT_EQ(keys("gsi-keys", "NOT nonproj = 'np1'").size(), std::string("s1 s2 s5").size());
  EXPECT_EQ(keys("gsi-inc", "(gsiPk2 = 'y' AND nonproj = 'np1') OR (gsiPk2 = 'y2')"), "s5");
  for (const char* accepted : {"(gsiPk2='y' AND projattr='1') OR (gsiPk2='z' AND aa='1')", "gsiPk2 > 'a' AND zz='1'",
                               "gsiPk2='y' AND (gsiPk2='z' OR zz='1')", "(gsiPk2='y' AND zz='1') OR aa='1'"})
    EXPECT_EQ(keys("gsi-inc", accepted), "") << accepted;
}

TEST_F(IndexRead, RefusesIndexesThatAreNotThere) {
  const std::string missing = "ValidationException: The table does not have the specified index";
  EXPECT_EQ(run("SELECT * FROM Indexed.\"no-such-index\" WHERE pk = 'p'"), missing);
  EXPECT_EQ(run("SELECT * FROM Indexed.Indexed WHERE pk = 'p'"), missing);
}

TEST_F(IndexRead, IsConsistentOnLocalIndexesAlone) {
  ExecuteStatementRequest request{.statement = statement("SELECT * FROM Indexed.\"gsi-all\" WHERE gsiPk = 'x'")};
  request.consistent_read = true;
  EXPECT_EQ(engine::outcome(execute(request)),
            "ValidationException: Strongly consistent read is not supported on Global Secondary Indexes");
  request.statement = statement("SELECT * FROM Indexed.\"lsi-all\" WHERE pk = 'p'");
  EXPECT_EQ(execute(request)->items.size(), 2U);
}

TEST_F(IndexRead, ReportsTheIndexsCapacity) {
  ExecuteStatementRequest request{.statement = statement("SELECT sk FROM Indexed.\"gsi-all\" WHERE gsiPk = 'x'")};
  request.return_consumed_capacity = store::ReturnConsumedCapacity::indexes;
  auto consumed = execute(request)->consumed_capacity;
  ASSERT_TRUE(consumed);
  EXPECT_EQ(consumed->table, 0);
  EXPECT_EQ(consumed->global_indexes["gsi-all"], consumed->total);
  request.statement = statement("SELECT nonproj FROM Indexed.\"lsi-keys\" WHERE pk = 'p'");
  consumed = execute(request)->consumed_capacity;
  EXPECT_GT(consumed->table, 0);
}

TEST_F(IndexRead, RefusesIndexesWithSeveralKeyAttributes) {
  store::CreateTableRequest request = table("Multi", "id:S");
  add_global_index(request, "gsi", "h1:S", "r1:S");
  request.attribute_definitions.push_back({"h2", item::Type::string});
  auto& schema = request.global_indexes->front().key_schema;
  schema.insert(schema.begin() + 1, {"h2", store::KeyRole::hash});
  create(request);
  const std::string refused =
      "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";
  for (const char* rest : {" WHERE h1 = 'a'", " WHERE h1 = 5", " WHERE id = 'i1'", ""})
    EXPECT_EQ(run("SELECT * FROM Multi.gsi" + std::string(rest)), "ValidationException: " + refused);
  EXPECT_EQ(run("SELECT COUNT(*) FROM Multi.gsi"), "ValidationException: " + refused);
  EXPECT_EQ(run("SELECT * FROM Multi WHERE id = 'i1'"), "");
  EXPECT_EQ(batch({"SELECT * FROM Multi.gsi WHERE h1 = 'a' AND h2 = 'x' AND r1 = 'm'"}), "ValidationError: " + refused);
}

}  // namespace
}  // namespace postino::partiql
