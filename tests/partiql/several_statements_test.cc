// Batches and transactions.
#include <thread>

#include "statement_runner.h"

namespace postino::partiql {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Several : public StatementTest {
 protected:
  Several() {
    store::CreateTableRequest request = table("Songs", "pk:S", "sk:S");
    add_global_index(request, "gsi", "g:S");
    create(request);
    create(table("Hash", "pk:S"));
  }

  void put_t(const std::string& pk, const std::string& sk, const std::string& flag) {
    put("Songs", R"({"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + R"("},"flag":{"S":")" + flag + "\"}}");
  }
  std::string get_t(const std::string& pk, const std::string& sk) {
    return get("Songs", R"({"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + "\"}}");
  }

  static std::string values(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "'v" : ",'v") + std::to_string(i) + "'";
    return text;
  }
};

using Batch = Several;

TEST_F(Batch, ReadsSeveralItems) {
  put_t("a", "1", "x");
  EXPECT_EQ(batch({"SELECT * FROM \"Songs\" WHERE pk = 'a' AND sk = '1'",
                   "SELECT flag FROM Songs WHERE pk IN ['a'] AND sk IN ['1', '2']",
                   "SELECT flag FROM Songs WHERE pk='a' AND sk='9'"}),
            R"({"flag":{"S":"x"},"pk":{"S":"a"},"sk":{"S":"1"}} @Songs | )"
            "ValidationError: Select statements within BatchExecuteStatement must specify the primary key in the where "
            "clause. |  @Songs");
  EXPECT_EQ(batch({"SELECT flag FROM Songs WHERE pk IN ['a'] AND sk = '1'"}), R"({"flag":{"S":"x"}} @Songs)");
}

TEST_F(Batch, WritesSeveralItems) {
  put_t("a", "1", "x");
  put_t("b", "1", "x");
  EXPECT_EQ(batch({"INSERT INTO Songs VALUE {'pk': 'c', 'sk': '1'}",
                   "UPDATE Songs SET flag = 'y' WHERE pk = 'a' AND sk = '1'",
                   "DELETE FROM Songs WHERE pk = 'b' AND sk = '1' RETURNING ALL OLD *",
                   "FROM Songs WHERE pk = 'a' AND sk = '2' SET flag = 'z'"}),
            R"( @Songs |  @Songs | {"flag":{"S":"x"},"pk":{"S":"b"},"sk":{"S":"1"}} @Songs | )"
            "ConditionalCheckFailed: The conditional request failed @Songs");
  EXPECT_EQ(get_t("a", "1"), R"({"flag":{"S":"y"},"pk":{"S":"a"},"sk":{"S":"1"}})");
  EXPECT_EQ(get_t("b", "1"), "");
  EXPECT_NE(get_t("c", "1"), "");
}

TEST_F(Batch, FailsStatementByStatement) {
  put_t("a", "1", "x");
  EXPECT_EQ(batch({"SLECT * FROM Songs WHERE pk = 'x'", "SELECT * FROM Songs WHERE",
                   "SELECT * FROM Absent WHERE pk = 'x'", "SELECT flag FROM Songs WHERE pk = 'a' AND sk = '1'"}),
            "ValidationError: Statement wasn't well formed, can't be processed: Expected data manipulation | "
            "ValidationError: Statement wasn't well formed, can't be processed: Unexpected term | "
            "ResourceNotFound: Requested resource not found @Absent | "
            R"({"flag":{"S":"x"}} @Songs)");
  EXPECT_EQ(
      batch({"INSERT INTO Songs VALUE {'pk': 'a', 'sk': '1'}",
             "DELETE FROM Songs WHERE pk = 'x' AND sk = '1' RETURNING MODIFIED OLD *",
             "UPDATE Songs SET x = 1 WHERE pk = 'q'"}),
      "DuplicateItem: Duplicate primary key exists in table @Songs | "
      "ValidationError: Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in "
      "DELETE statements. | "
      "ValidationError: Where clause does not contain a mandatory equality on all key attributes");
}

TEST_F(Batch, ReadsByKeyAlone) {
  const std::string refused =
      "ValidationError: Select statements within BatchExecuteStatement must specify the primary key in the where "
      "clause.";
  for (const char* condition :
       {"flag = 'a'", "pk = 'a'", "pk='a' AND sk='1' AND flag='one'", "pk='a' AND sk='1' AND pk='b'",
        "pk='a' AND sk>'1'", "pk='a' AND sk='1' AND attribute_exists(flag)"})
    EXPECT_EQ(batch({"SELECT * FROM Songs WHERE " + std::string(condition)}), refused) << condition;
  EXPECT_EQ(batch({"SELECT * FROM Songs"}), refused);
  EXPECT_EQ(batch({"SELECT * FROM Songs.gsi WHERE g = 'x'"}), refused);
  EXPECT_EQ(batch({"SELECT sk FROM Songs WHERE pk IN [" + values(51) + "] AND sk='1'"}),
            "ValidationError: Too many decomposed read operations for a given query.");
}

TEST_F(Batch, IsAllReadsOrAllWritesOfDifferentItems) {
  EXPECT_EQ(batch({"SELECT * FROM Hash WHERE pk = 'a'", "INSERT INTO Hash VALUE {'pk': 'b'}"}),
            "ValidationException: Read and write requests together in the same batch is not supported.");
  EXPECT_EQ(get("Hash", R"({"pk":{"S":"b"}})"), "");
  const std::string duplicates = "ValidationException: Provided list of item keys contains duplicates";
  EXPECT_EQ(batch({"SELECT * FROM Hash WHERE pk = 'a'", "SELECT pk FROM Hash WHERE pk IN ['a']"}), duplicates);
  EXPECT_EQ(batch({"INSERT INTO Hash VALUE {'pk': 'b'}", "DELETE FROM Hash WHERE pk = 'b'"}), duplicates);
  EXPECT_EQ(get("Hash", R"({"pk":{"S":"b"}})"), "");
}

TEST_F(Batch, HasOneTo25Statements) {
  EXPECT_EQ(
      batch(std::vector<std::string>{}),
      "ValidationException: 1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: "
      "Member must have length greater than or equal to 1");
  std::vector<std::string> texts;
  for (int i = 0; i < 25; ++i) texts.push_back("INSERT INTO Hash VALUE {'pk': 'k" + std::to_string(i) + "'}");
  EXPECT_THAT(batch(texts), StartsWith(" @Hash |"));
  texts.push_back("INSERT INTO Hash VALUE {'pk': 'more'}");
  EXPECT_THAT(batch(texts), HasSubstr("Member must have length less than or equal to 25"));
  EXPECT_THAT(batch({"SELECT * FROM Hash WHERE pk = 'a'", ""}),
              HasSubstr("Value '' at 'statements.2.member.statement' failed to satisfy constraint"));
}

TEST_F(Batch, ReportsFaultyParametersInTheirPlace) {
  BatchExecuteStatementRequest request;
  request.statements.push_back({.statement = statement("SELECT * FROM Hash WHERE pk = 'a'")});
  request.statements.push_back({.statement = statement("not a statement")});
  request.statements.back().statement.parameter_fault =
      "One or more parameter values were invalid: An string set  may not be empty";
  EXPECT_EQ(batch(request),
            " @Hash | ValidationError: One or more parameter values were invalid: An string set  may not be empty");
}

TEST_F(Batch, ShowsTheItemThatAConditionSaw) {
  put_t("a", "1", "x");
  BatchExecuteStatementRequest request;
  request.statements.push_back(
      {.statement = statement("UPDATE Songs SET z = 1 WHERE pk = 'a' AND sk = '1' AND flag = 'y'"),
       .return_item_on_failure = true});
  EXPECT_EQ(
      batch(request),
      R"(ConditionalCheckFailed: The conditional request failed {"flag":{"S":"x"},"pk":{"S":"a"},"sk":{"S":"1"}} @Songs)");
}

TEST_F(Batch, AddsUpItsCapacityByTable) {
  put_t("a", "1", "x");
  put("Hash", R"({"pk":{"S":"h"}})");
  BatchExecuteStatementRequest request;
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  request.statements.push_back(
      {.statement = statement("SELECT * FROM Songs WHERE pk = 'a' AND sk = '1'"), .consistent_read = true});
  request.statements.push_back({.statement = statement("SELECT * FROM Hash WHERE pk = 'h'")});
  request.statements.push_back({.statement = statement("SELECT * FROM Songs WHERE pk = 'a' AND sk = '2'")});
  const auto answer = execute(request);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->consumed_capacity.size(), 2U);
  EXPECT_EQ(answer->consumed_capacity[0].table_name, "Songs");
  EXPECT_EQ(answer->consumed_capacity[0].total, 1.5);
  EXPECT_EQ(answer->consumed_capacity[1].total, 0.5);
}

using Transaction = Several;

TEST_F(Transaction, WritesAllOrNothing) {
  put_t("a", "1", "x");
  EXPECT_EQ(transaction({"INSERT INTO Songs VALUE {'pk': 'b', 'sk': '1'}",
                         "UPDATE Songs SET flag = 'y' WHERE pk = 'a' AND sk = '1'",
                         "DELETE FROM Songs WHERE pk = 'c' AND sk = '1'"}),
            "ok");
  EXPECT_EQ(
      transaction({"INSERT INTO Songs VALUE {'pk': 'b', 'sk': '1'}", "INSERT INTO Songs VALUE {'pk': 'd', 'sk': '1'}",
                   "UPDATE Songs SET flag = 'z' WHERE pk = 'a' AND sk = '1' AND flag = 'x'"}),
      "cancelled: DuplicateItem: Duplicate primary key exists in table | None | "
      "ConditionalCheckFailed: The conditional request failed");
  EXPECT_EQ(get_t("d", "1"), "");
}

TEST_F(Transaction, ReadsItemsByKey) {
  put_t("a", "1", "x");
  EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE pk = 'a' AND sk = '1'",
                         "SELECT flag FROM Songs WHERE sk='2' AND pk = 'a'"}),
            R"({"flag":{"S":"x"},"pk":{"S":"a"},"sk":{"S":"1"}} | -)");
  EXPECT_EQ(transaction({"SELECT flag FROM Songs WHERE (sk='1') AND pk='a' AND pk='a'"}), R"({"flag":{"S":"x"}})");
  EXPECT_EQ(transaction({"SELECT flag FROM Songs WHERE pk IN ['a'] AND sk IN ['1']"}), R"({"flag":{"S":"x"}})");
  EXPECT_EQ(transaction({"SELECT nope FROM Songs WHERE pk = 'a' AND sk = '1'"}), "{}");
}

TEST_F(Transaction, RefusesReadsThatAreNotByKeyAlone) {
  const std::string start = "ValidationException: Validation failed in TransactStatements[0]: ";
  const std::string refused =
      start + "Select statements within ExecuteTransaction must specify the primary key in the where clause.";
  for (const char* condition : {"pk='a' AND sk='1' AND flag='x'", "pk='a' AND sk='1' AND pk='b'", "pk='a'",
                                "pk IN ['b'] AND pk='a' AND sk='1'", "pk='a' AND sk='1' AND attribute_exists(flag)"})
    EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE " + std::string(condition)}), refused) << condition;
  EXPECT_EQ(transaction({"SELECT * FROM Songs.gsi WHERE g = 'x'"}),
            start + "Reads on indices are not supported within transactions.");
  EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE pk IN ['a','a'] AND sk='1'"}),
            start + "Overlapping conditions with range keys are not supported in where clause");
  EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE pk IN [" + values(101) + "] AND sk='1'"}),
            start + "The IN operator is provided with too many operands; number of operands: 101");
  EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE"}),
            start + "Statement wasn't well formed, can't be processed: Unexpected term");
}

TEST_F(Transaction, RefusesTwoOperationsOnOneItem) {
  const std::string twice = "ValidationException: Transaction request cannot include multiple operations on one item";
  const std::string select = "SELECT * FROM Songs WHERE pk='a' AND sk='1'";
  EXPECT_EQ(transaction({select, "SELECT flag FROM Songs WHERE sk='1' AND pk='a'"}), twice);
  EXPECT_EQ(transaction({"INSERT INTO Songs VALUE {'pk':'a','sk':'1'}", "DELETE FROM Songs WHERE pk='a' AND sk='1'"}),
            twice);
  EXPECT_EQ(transaction({select, select, "SELECT * FROM Songs WHERE pk=1 AND sk='1'"}),
            "cancelled: None | None | ValidationError: The provided key element does not match the schema");
}

TEST_F(Transaction, NamesEveryStatementThatHasNoTableOrNoKey) {
  const std::string mismatch = "ValidationError: The provided key element does not match the schema";
  const std::string update = "UPDATE Songs SET a=1 WHERE ";
  EXPECT_EQ(transaction({update + "pk='k'", update + "pk IN ['k'] AND sk='1'", update + "pk='k' AND sk=1",
                         update + "pk='k' AND sk='1' AND pk='o'"}),
            "cancelled: " + mismatch + " | " + mismatch + " | " + mismatch +
                " | ValidationError: Multiple conditions on same key pk. Only single item Update/Insert/Delete are "
                "supported");
  EXPECT_EQ(transaction({"INSERT INTO Songs VALUE {'pk':'k'}", "DELETE FROM Songs WHERE sk='1'"}),
            "cancelled: ValidationError: One or more parameter values were invalid: Missing the key sk in the item | " +
                mismatch);
  const std::string missing = "ResourceNotFound: Requested resource not found";
  EXPECT_EQ(transaction({"UPDATE Absent SET a=1 WHERE pk='x' RETURNING ALL NEW *", "DELETE FROM Absent WHERE pk='x'"}),
            "cancelled: " + missing + " | " + missing);
  EXPECT_EQ(transaction({"SELECT * FROM Songs WHERE pk='a' AND sk='1'", "SELECT * FROM Absent.idx WHERE pk='x'"}),
            "cancelled: None | " + missing);
}

TEST_F(Transaction, RefusesTheRequestBeforeItIsCancelled) {
  EXPECT_EQ(transaction({"UPDATE Absent SET a=1 WHERE pk='x'",
                         "UPDATE Songs SET a=1 WHERE pk='a' AND sk='1' RETURNING ALL NEW *"}),
            "ValidationException: Validation failed in TransactStatements[1]: RETURNING clause is not supported in "
            "ExecuteTransaction.");
  EXPECT_EQ(
      transaction({"SELECT * FROM Absent WHERE pk='x'", "SELECT * FROM Songs.idx WHERE pk='x' AND sk='1'"}),
      "ValidationException: Validation failed in TransactStatements[1]: Reads on indices are not supported within "
      "transactions.");
  EXPECT_EQ(transaction({"UPDATE Songs SET n = n + [1] WHERE pk='a' AND sk='1'"}),
            "ValidationException: Validation failed in TransactStatements[0]: Incorrect operand type for operator or "
            "function; operator or function: +, operand type: L");
  EXPECT_EQ(
      transaction({"INSERT INTO Songs VALUE {'pk':'b','sk':'1','x':[<<'a','a'>>]}"}),
      "ValidationException: Validation failed in TransactStatements[0]: One or more parameter values were invalid: "
      "Input collection [a, a] contains duplicates.");
  EXPECT_EQ(
      transaction({"SELECT * FROM Songs WHERE pk='a' AND sk='1'", "UPDATE Songs SET a=1 WHERE pk='a' AND sk='1'"}),
      "ValidationException: ExecuteTransaction API does not support both read and write operations in the same "
      "request.");
}

TEST_F(Transaction, ReportsFaultyParametersFirst) {
  ExecuteTransactionRequest request;
  request.statements.push_back({.statement = statement("not a statement")});
  request.statements.push_back({.statement = statement("neither")});
  request.statements.back().statement.parameter_fault = "the fault";
  EXPECT_EQ(transaction(request), "ValidationException: the fault");
}

TEST_F(Transaction, ChecksThatAnItemExistsAsAsked) {
  put_t("x1", "1", "free");
  put_t("x2", "1", "free");
  const std::string update = "UPDATE Songs SET won=1 WHERE pk = 'x2' AND sk = '1'";
  const auto exists = [](const std::string& condition) {
    return "EXISTS(SELECT * FROM Songs WHERE " + condition + ")";
  };
  EXPECT_EQ(transaction({exists("pk = 'x1' AND sk = '1' AND Awards IS MISSING"), update}), "ok");
  EXPECT_EQ(transaction({exists("(pk='x1' AND sk='1') AND flag = 'taken'"), update}),
            "cancelled: ConditionalCheckFailed: The conditional request failed | None");
  EXPECT_EQ(transaction({exists("pk='x1' AND sk='1' AND pk='other' AND flag='free'"), update}),
            "cancelled: ConditionalCheckFailed: The conditional request failed | None");
  EXPECT_EQ(transaction({exists("pk='gone' AND sk='1' AND Awards IS MISSING"), update}),
            "cancelled: ConditionalCheckFailed: The conditional request failed | None");
  const std::string refused =
      "ValidationException: Validation failed in TransactStatements[0]: EXISTS() must contain a single item read with "
      "additional condition";
  EXPECT_EQ(transaction({exists("pk='x1' AND sk='1'"), update}), refused);
  EXPECT_EQ(transaction({exists("pk='x1' AND flag='free'"), update}), refused);
  EXPECT_EQ(transaction({exists("pk IN ['x1'] AND sk='1' AND flag='free'"), update}), refused);
}

TEST_F(Transaction, AppliesARepeatedRequestOnce) {
  put("Hash", R"({"pk":{"S":"a"},"n":{"N":"0"}})");
  ExecuteTransactionRequest request;
  request.client_request_token = "token";
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  request.statements.push_back({.statement = statement("UPDATE Hash SET n = n + 1 WHERE pk = 'a'")});
  const auto first = execute(request);
  const auto second = execute(request);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(get("Hash", R"({"pk":{"S":"a"}})"), R"({"n":{"N":"1"},"pk":{"S":"a"}})");
  EXPECT_TRUE(first->consumed_capacity[0].transactional_write);
  EXPECT_EQ(first->consumed_capacity[0].total, 2);
  EXPECT_TRUE(second->consumed_capacity[0].transactional_read);
  request.statements[0].statement.text = "UPDATE Hash SET n = n + 2 WHERE pk = 'a'";
  EXPECT_THAT(transaction(request), StartsWith("IdempotentParameterMismatchException"));
}

TEST_F(Transaction, ShowsTheItemThatAConditionSaw) {
  put("Hash", R"({"pk":{"S":"a"},"n":{"N":"0"}})");
  ExecuteTransactionRequest request;
  request.statements.push_back(
      {.statement = statement("UPDATE Hash SET n = 1 WHERE pk = 'a' AND n = 5"), .return_item_on_failure = true});
  EXPECT_EQ(transaction(request),
            R"(cancelled: ConditionalCheckFailed: The conditional request failed {"n":{"N":"0"},"pk":{"S":"a"}})");
}

TEST_F(Transaction, HasOneTo100Statements) {
  EXPECT_EQ(transaction(std::vector<std::string>{}),
            "ValidationException: 1 validation error detected: Value '[]' at 'transactStatements' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1");
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back("INSERT INTO Hash VALUE {'pk': 'k" + std::to_string(i) + "'}");
  EXPECT_EQ(transaction(texts), "ok");
  texts.push_back("INSERT INTO Hash VALUE {'pk': 'more'}");
  EXPECT_THAT(transaction(texts), HasSubstr("Member must have length less than or equal to 100"));
}

class ConcurrentStatements : public Several {};

// Counters that many threads raise through one executor, alone and in batches, lose nothing.
TEST_F(ConcurrentStatements, LoseNoUpdate) {
  constexpr int threads = 4, rounds = 50;
  put("Hash", R"({"pk":{"S":"a"},"n":{"N":"0"}})");
  put("Hash", R"({"pk":{"S":"b"},"n":{"N":"0"}})");
  const auto work = [&] {
    BatchExecuteStatementRequest request;
    for (const char* pk : {"a", "b"})
      request.statements.push_back({.statement = statement("UPDATE Hash SET n = n + ? WHERE pk = ?",
                                                           {R"({"N":"1"})", R"({"S":")" + std::string(pk) + "\"}"})});
    for (int i = 0; i < rounds; ++i) {
      EXPECT_EQ(batch(request), " @Hash |  @Hash");
      EXPECT_EQ(run("UPDATE Hash SET n = n + 1 WHERE pk = 'a'"), "");
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(column("n", "SELECT n FROM Hash WHERE pk IN ['a', 'b']"), "400 200");
}

}  // namespace
}  // namespace postino::partiql
