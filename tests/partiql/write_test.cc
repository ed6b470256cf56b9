#include "statement_runner.h"

namespace postino::partiql {
namespace {

using testing::HasSubstr;

constexpr std::string_view failed = "ConditionalCheckFailedException: The conditional request failed";

class Write : public StatementTest {
 protected:
  Write() {
    create(table("Songs", "pk:S", "sk:S"));
    create(table("Hash", "pk:S"));
  }

  void put_hash(const std::string& attributes) { put("Hash", R"({"pk":{"S":"a"},)" + attributes + "}"); }
  std::string hash() { return get("Hash", R"({"pk":{"S":"a"}})"); }
  std::string update(const std::string& actions) { return run("UPDATE Hash " + actions + " WHERE pk = 'a'"); }
};

TEST_F(Write, InsertsAnItem) {
  EXPECT_EQ(run("INSERT INTO \"Hash\" VALUE {'pk': 'a', 'data': 'x'}"), "");
  EXPECT_EQ(hash(), R"({"data":{"S":"x"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("INSERT INTO Hash value {'pk': ?, 'n': ?, 'l': [1, {'a': <<1>>}]}", {R"({"S":"b"})", R"({"N":"1e3"})"}),
            "");
  EXPECT_EQ(get("Hash", R"({"pk":{"S":"b"}})"),
            R"({"l":{"L":[{"N":"1"},{"M":{"a":{"NS":["1"]}}}]},"n":{"N":"1000"},"pk":{"S":"b"}})");
}

TEST_F(Write, DoesNotInsertTwice) {
  const std::string duplicate = "DuplicateItemException: Duplicate primary key exists in table";
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 'a', 'data': 'first'}"), "");
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 'a', 'data': 'second'}"), duplicate);
  EXPECT_EQ(hash(), R"({"data":{"S":"first"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a'"), "");
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 'a'}"), "");
  // Another sort key is another item.
  EXPECT_EQ(run("INSERT INTO Songs VALUE {'pk': 'a', 'sk': '1'}"), "");
  EXPECT_EQ(run("INSERT INTO Songs VALUE {'pk': 'a', 'sk': '2'}"), "");
  EXPECT_EQ(run("INSERT INTO Songs VALUE {'pk': 'a', 'sk': '2'}"), duplicate);
}

TEST_F(Write, RefusesItemsThatCannotBe) {
  EXPECT_EQ(run("INSERT INTO Songs VALUE {'pk': 'a'}"),
            "ValidationException: One or more parameter values were invalid: Missing the key sk in the item");
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 1}"),
            "ValidationException: One or more parameter values were invalid: Type mismatch for key pk expected: S "
            "actual: N");
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 'a', 'big': ?}", {R"({"S":")" + std::string(410'000, 'x') + "\"}"}),
            "ValidationException: Item size has exceeded the maximum allowed size");
  EXPECT_EQ(run("INSERT INTO Hash VALUE {'pk': 'a', 'x': 1, 'x': 2}"),
            "ValidationException: Duplicate keys in tuple. Key: x under root");
}

TEST_F(Write, UpdatesAnItemThatIsThere) {
  put_hash(R"("n":{"N":"5"},"m":{"M":{}},"l":{"L":[{"S":"a"},{"S":"b"}]},"ss":{"SS":["x"]})");
  EXPECT_EQ(update("SET n = n + 1, m.k = 'v' SET l[1] = 'z' REMOVE ss"), "");
  EXPECT_EQ(hash(), R"({"l":{"L":[{"S":"a"},{"S":"z"}]},"m":{"M":{"k":{"S":"v"}}},"n":{"N":"6"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("UPDATE Hash SET n = 1 WHERE pk = 'ghost'"), failed);
  EXPECT_EQ(get("Hash", R"({"pk":{"S":"ghost"}})"), "");
  EXPECT_EQ(run("UPDATE Hash SET n = 1 WHERE pk = 'ghost' AND attribute_not_exists(pk)"), failed);
}

TEST_F(Write, TakesUpdatesInTheOtherOrder) {
  put_hash(R"("a":{"N":"1"},"b":{"S":"bee"})");
  EXPECT_EQ(
      run("from Hash where pk = ? and a = 1 set c = ? remove b returning all new *", {R"({"S":"a"})", R"({"N":"7"})"}),
      R"({"a":{"N":"1"},"c":{"N":"7"},"pk":{"S":"a"}})");
  EXPECT_EQ(run("FROM Hash WHERE pk = 'a' AND a = 2 SET c = 5"), failed);
  EXPECT_EQ(run("FROM Hash WHERE pk = 'ghost' SET c = 5"), failed);
}

TEST_F(Write, TakesTheWholeKeyFromTheWhereClause) {
  const std::string incomplete =
      "ValidationException: Where clause does not contain a mandatory equality on all key attributes";
  for (const char* statement :
       {"UPDATE Songs SET a = 1", "UPDATE Songs SET a = 1 WHERE pk = 'a'", "FROM Songs SET c = 1",
        "FROM Songs REMOVE a", "FROM Songs WHERE a = 1 SET c = 1", "DELETE FROM Songs WHERE pk = 'a'",
        "DELETE FROM Songs", "UPDATE Songs SET a = 1 WHERE pk IN ['a'] AND sk = '1'",
        "UPDATE Songs SET a = 1 WHERE pk = 'a' OR sk = '1'", "DELETE FROM Songs WHERE pk = 'a' AND sk > '1'"})
    EXPECT_EQ(run(statement), incomplete) << statement;

  const std::string multiple =
      "ValidationException: Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported";
  put("Songs", R"({"pk":{"S":"a"},"sk":{"S":"1"},"flag":{"S":"x"}})");
  EXPECT_EQ(run("UPDATE Songs SET a=1 WHERE pk='a' AND sk='1' AND pk='b'"), multiple);
  EXPECT_EQ(run("DELETE FROM Songs WHERE pk='a' AND sk='1' AND pk='b'"), multiple);
  EXPECT_EQ(run("UPDATE Songs SET a=2 WHERE (pk='a' AND '1' = sk) AND flag='x' AND pk='a'"), "");
  EXPECT_EQ(get("Songs", R"({"pk":{"S":"a"},"sk":{"S":"1"}})"),
            R"({"a":{"N":"2"},"flag":{"S":"x"},"pk":{"S":"a"},"sk":{"S":"1"}})");
  EXPECT_EQ(run("UPDATE Songs SET a=1 WHERE pk='a' AND sk=1"),
            "ValidationException: The provided key element does not match the schema");
}

TEST_F(Write, MakesOtherConditionsConditionsOfTheWrite) {
  put_hash(R"("name":{"S":"alpha"},"val":{"SS":["a","b"]})");
  EXPECT_EQ(run("UPDATE Hash SET n = 9 WHERE pk = 'a' AND name = 'beta'"), failed);
  EXPECT_EQ(run("UPDATE Hash SET n = 9 WHERE pk = 'a' AND attribute_exists(nope)"), failed);
  EXPECT_EQ(run("UPDATE Hash SET n = 9 WHERE pk = 'a' AND val = ?", {R"({"SS":["b","a"]})"}), "");
  EXPECT_EQ(run("UPDATE Hash SET m = 9 WHERE pk = 'a' AND (name = 'beta' OR n = 9) AND NOT m IS NUMERIC"), "");
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' AND NOT begins_with(name, 'al')"), failed);
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' AND (name = 'beta' OR name = 'gamma')"), failed);
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' AND name = 'alpha'"), "");
  EXPECT_EQ(hash(), "");
}

TEST_F(Write, DeletesWhatIsNotThereInSilence) {
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a'"), "");
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' AND name = 'x'"), "");
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' RETURNING ALL OLD *"), "");
}

TEST_F(Write, ReturnsTheItemThatAConditionSaw) {
  put_hash(R"("v":{"N":"1"})");
  ExecuteStatementRequest request{.statement = statement("UPDATE Hash SET v = 2 WHERE pk = 'a' AND v = 5")};
  request.return_item_on_failure = true;
  const auto answer = execute(request);
  ASSERT_FALSE(answer);
  ASSERT_TRUE(answer.error().details && answer.error().details->item);
  EXPECT_EQ(*answer.error().details->item, (item::Item{{"pk", "a"}, {"v", 1}}));
}

TEST_F(Write, ReturnsWhatIsAskedFor) {
  const auto start = [&] {
    put_hash(R"("data":{"S":"old"},"keep":{"S":"same"},"tags":{"L":[{"S":"a"},{"S":"b"},{"S":"c"}]})");
  };
  const auto returned = [&](const std::string& actions, const std::string& what) {
    start();
    return run("UPDATE Hash " + actions + " WHERE pk = 'a' RETURNING " + what + " *");
  };
  EXPECT_EQ(returned("SET data = 'new' REMOVE tags", "ALL OLD"),
            R"({"data":{"S":"old"},"keep":{"S":"same"},"pk":{"S":"a"},"tags":{"L":[{"S":"a"},{"S":"b"},{"S":"c"}]}})");
  EXPECT_EQ(returned("SET data = 'new' REMOVE tags", "ALL NEW"),
            R"({"data":{"S":"new"},"keep":{"S":"same"},"pk":{"S":"a"}})");
  EXPECT_EQ(returned("SET data = 'new'", "MODIFIED OLD"), R"({"data":{"S":"old"}})");
  EXPECT_EQ(returned("SET data = 'new'", "MODIFIED NEW"), R"({"data":{"S":"new"}})");
  EXPECT_EQ(returned("REMOVE data", "MODIFIED NEW"), "");
  EXPECT_EQ(returned("SET fresh = 1", "MODIFIED OLD"), "");
  EXPECT_EQ(returned("SET tags[2] = 'y', tags[0] = 'x'", "MODIFIED NEW"), R"({"tags":{"L":[{"S":"x"},{"S":"y"}]}})");
  EXPECT_EQ(returned("REMOVE tags[1]", "MODIFIED NEW"), R"({"tags":{"L":[{"S":"c"}]}})");
  start();
  EXPECT_EQ(run("DELETE FROM Hash WHERE pk = 'a' AND keep = 'same' RETURNING ALL OLD *"),
            R"({"data":{"S":"old"},"keep":{"S":"same"},"pk":{"S":"a"},"tags":{"L":[{"S":"a"},{"S":"b"},{"S":"c"}]}})");
}

TEST_F(Write, ReportsFaultsOfTheItem) {
  put_hash(R"("s":{"S":"str"},"ss":{"SS":["a"]})");
  const std::string type = "ValidationException: An operand in the update expression has an incorrect data type";
  EXPECT_EQ(update("SET ss = set_add(ss, <<1>>)"), type);
  EXPECT_EQ(update("SET s = set_delete(s, <<'x'>>)"), type);
  EXPECT_EQ(update("SET s = s + 1"), type);
  EXPECT_EQ(update("SET l = list_append(l, [1])"),
            "ValidationException: The provided expression refers to an attribute that does not exist in the item");
  EXPECT_EQ(update("SET l[0] = 'x'"),
            "ValidationException: The document path provided in the update expression is invalid for update");
  EXPECT_EQ(
      update("SET pk = 'b'"),
      "ValidationException: One or more parameter values were invalid: Cannot update attribute pk. This attribute "
      "is part of the key");
  // A condition that fails comes before them.
  EXPECT_EQ(run("UPDATE Hash SET s = s + 1 WHERE pk = 'a' AND nope = 1"), failed);
}

TEST_F(Write, RefusesItemsThatGetTooDeep) {
  put_hash(R"("m":{"M":{}})");
  std::string deep = R"({"S":"x"})";
  for (int i = 0; i < 31; ++i) deep = R"({"M":{"a":)" + deep + "}}";
  const std::string too_deep = "Nesting Levels have exceeded supported limits";
  EXPECT_EQ(run("UPDATE Hash SET m.deep = ? WHERE pk = 'a'", {deep}), "ValidationException: " + too_deep);
  EXPECT_EQ(run("UPDATE Hash SET deep = ? WHERE pk = 'a'", {deep}), "");

  const Statement given = statement("UPDATE Hash SET m.deep = ? WHERE pk = 'a'", {deep});
  EXPECT_EQ(batch({.statements = {{.statement = given}}}), "ValidationError: " + too_deep + " @Hash");
  EXPECT_EQ(transaction({.statements = {{.statement = given}}}), "cancelled: ValidationError: " + too_deep);
}

TEST_F(Write, ReportsItsCapacity) {
  ExecuteStatementRequest request{.statement = statement("INSERT INTO Hash VALUE {'pk': 'a'}")};
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto answer = execute(request);
  ASSERT_TRUE(answer && answer->consumed_capacity);
  EXPECT_EQ(answer->consumed_capacity->total, 1);
}

TEST_F(Write, RefusesExistsOutsideOfTransactions) {
  EXPECT_EQ(run("EXISTS(SELECT * FROM Hash WHERE pk = 'a' AND x IS MISSING)"),
            "ValidationException: EXISTS can only be used in ExecuteTransaction write requests.");
  EXPECT_EQ(batch({"EXISTS(SELECT * FROM Hash WHERE pk = 'a' AND x IS MISSING)"}),
            "ValidationError: EXISTS can only be used in ExecuteTransaction write requests.");
}

// The statements that the outbox was built on: table "outbox" with key Id and Status, and an index by status.
class Outbox : public StatementTest {
 protected:
  Outbox() {
    store::CreateTableRequest request = table("outbox", "Id:S", "Status:S");
    add_global_index(request, "StatusIndex", "Status:S", {}, store::ProjectionType::include, {"Attributes"});
    create(request);
  }

  void accept(const std::string& id) {
    const std::vector<std::string> parameters = {R"({"S":")" + id + "\"}", R"({"S":"_META"})",
                                                 R"({"M":{"Latest":{"S":"ACCEPTED"},"UpdatedAt":{"S":"t0"}}})"};
    EXPECT_EQ(run("INSERT INTO \"outbox\" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?}", parameters), "");
  }

  std::string move(const std::string& id, const std::string& status) {
    ExecuteTransactionRequest request;
    request.statements.push_back(
        {.statement =
             statement("UPDATE \"outbox\" SET Attributes.Latest=?, Attributes.UpdatedAt=?, Attributes.Reason=? \n"
                       "WHERE Id=? AND Status=?",
                       {R"({"S":")" + status + "\"}", R"({"S":"t1"})", R"({"S":"because"})", R"({"S":")" + id + "\"}",
                        R"({"S":"_META"})"})});
    request.statements.push_back(
        {.statement =
             statement("INSERT INTO \"outbox\" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?}",
                       {R"({"S":")" + id + "\"}", R"({"S":")" + status + "\"}", R"({"M":{"TTL":{"N":"1"}}})"})});
    return transaction(request);
  }
};

TEST_F(Outbox, ChangesStateInOneTransaction) {
  accept("m1");
  EXPECT_EQ(move("m1", "INTAKING"), "ok");
  EXPECT_EQ(get("outbox", R"({"Id":{"S":"m1"},"Status":{"S":"_META"}})"),
            R"({"Attributes":{"M":{"Latest":{"S":"INTAKING"},"Reason":{"S":"because"},"UpdatedAt":{"S":"t1"}}},)"
            R"("Id":{"S":"m1"},"Status":{"S":"_META"}})");
  // A state that is recorded cannot be recorded again, and then nothing changes.
  EXPECT_EQ(move("m1", "INTAKING"), "cancelled: None | DuplicateItem: Duplicate primary key exists in table");
  EXPECT_EQ(move("m2", "INTAKING"), "cancelled: ConditionalCheckFailed: The conditional request failed | None");
  EXPECT_EQ(get("outbox", R"({"Id":{"S":"m2"},"Status":{"S":"INTAKING"}})"), "");
}

TEST_F(Outbox, FindsMessagesOfAStatePageByPage) {
  for (int i = 0; i < 60; ++i) {
    accept("m" + std::to_string(i));
    if (i % 2 == 0) {
      EXPECT_EQ(move("m" + std::to_string(i), "READY"), "ok");
    }
  }
  ExecuteStatementRequest request{
      .statement = statement(
          "SELECT Id, Status, Attributes FROM \"outbox\".\"StatusIndex\" \nWHERE Status=? AND Attributes.Latest =?",
          {R"({"S":"_META"})", R"({"S":"READY"})"})};
  request.limit = 25;
  std::size_t found = 0;
  int pages = 0;
  do {
    const auto answer = execute(request);
    ASSERT_TRUE(answer) << engine::outcome(answer);
    for (const item::Item& item : answer->items) EXPECT_EQ(item.size(), 3U);
    found += answer->items.size();
    request.next_token = answer->next_token;
    ++pages;
  } while (request.next_token && pages < 10);
  EXPECT_EQ(found, 30U);
  EXPECT_EQ(pages, 3);
}

}  // namespace
}  // namespace postino::partiql
