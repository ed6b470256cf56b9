// Calls that take long: they move to other threads, and only the statistics show it.
#include <gmock/gmock.h>

#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;

class LongCallTest : public EndpointTest {
 protected:
  LongCallTest() { create_table("things", true); }

  static std::string number(int value) {
    std::string text = std::to_string(value);
    return std::string(6 - text.size(), '0') + text;
  }
  static std::string key(int value) { return R"({"pk":{"S":"p"},"sk":{"S":")" + number(value) + R"("}})"; }

  // In batches of 25; each item has this many bytes of text.
  void put_all(int count, std::size_t size) {
    for_batches(count, [&](int value) {
      return R"({"PutRequest":{"Item":{"pk":{"S":"p"},"sk":{"S":")" + number(value) + R"("},"text":{"S":")" +
             std::string(size, 'x') + R"("}}}})";
    });
  }
  void remove_all(int count) {
    for_batches(count, [&](int value) { return R"({"DeleteRequest":{"Key":)" + key(value) + "}}"; });
  }
  template <class Write>
  void for_batches(int count, Write write) {
    for (int first = 0; first < count; first += 25) {
      std::string writes;
      for (int i = first; i < std::min(first + 25, count); ++i) writes += (i > first ? "," : "") + write(i);
      answer("BatchWriteItem", R"({"RequestItems":{"things":[)" + writes + "]}}");
    }
  }
  static std::string get_all(int count) {
    std::string keys;
    for (int i = 0; i < count; ++i) keys += (i > 0 ? "," : "") + key(i);
    return R"({"RequestItems":{"things":{"Keys":[)" + keys + "]}}}";
  }
  std::string metric(const std::string& name) const {
    std::string text;
    endpoint().long_calls().append_to(text);
    const std::size_t begin = text.find("\n" + name + " ") + name.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  std::string moved() const { return metric("postino_dynamodb_long_calls_total"); }

  const std::string query_ = R"({"TableName":"things","KeyConditionExpression":"pk = :p",)"
                             R"("ExpressionAttributeValues":{":p":{"S":"p"}}})";
};

TEST_F(LongCallTest, ShortReadsStay) {
  put_all(50, 100);
  EXPECT_THAT(answer("Query", query_), HasSubstr(R"("Count":50)"));
  EXPECT_THAT(answer("Scan", R"({"TableName":"things"})"), HasSubstr(R"("Count":50)"));
  answer("BatchGetItem", get_all(50));
  answer("ExecuteStatement", R"({"Statement":"SELECT * FROM things WHERE pk = 'p'"})");
  EXPECT_EQ(moved(), "0");
}

TEST_F(LongCallTest, EveryCallMovesWhenTheStoreIsOnOtherMachines) {
  EndpointOptions options;
  options.all_calls_are_long = true;
  restart(std::move(options));
  put_all(25, 100);
  EXPECT_THAT(answer("Query", query_), HasSubstr(R"("Count":25)"));
  answer("GetItem", R"({"TableName":"things","Key":)" + key(1) + "}");
  EXPECT_EQ(moved(), "3");
}

TEST_F(LongCallTest, ReadsOfMuchMoveAndAnswerTheSame) {
  put_all(50, 5'000);
  const std::string whole = answer("Query", query_);
  EXPECT_EQ(moved(), "1");
  EXPECT_THAT(whole, HasSubstr(R"("Count":50)"));
  std::string pages;
  for (int first = 0; first < 50; first += 10) {
    const std::string start = first == 0 ? "" : R"(,"ExclusiveStartKey":)" + key(first - 1);
    const std::string page = answer("Query", query_.substr(0, query_.size() - 1) + R"(,"Limit":10)" + start + "}");
    const std::size_t begin = page.find('[') + 1;
    pages += (pages.empty() ? "" : ",") + page.substr(begin, page.find(']') - begin);
  }
  EXPECT_EQ(moved(), "1") << "the parts are short";
  EXPECT_THAT(whole, HasSubstr("[" + pages + "]"));

  EXPECT_THAT(answer("Scan", R"({"TableName":"things"})"), HasSubstr("[" + pages + "]"));
  EXPECT_EQ(moved(), "2");
  EXPECT_THAT(answer("BatchGetItem", get_all(50)), HasSubstr("[" + pages + "]"));
  EXPECT_EQ(moved(), "3");
  EXPECT_THAT(answer("ExecuteStatement", R"({"Statement":"SELECT * FROM things WHERE pk = 'p'"})"),
              HasSubstr("[" + pages + "]"));
  EXPECT_EQ(moved(), "4");
}

TEST_F(LongCallTest, StatementsThatReadMuchMoveWhole) {
  put_all(40, 10'000);
  std::string statements;
  for (int i = 0; i < 20; ++i)
    statements += std::string(i > 0 ? "," : "") + R"({"Statement":"SELECT sk FROM things WHERE pk = 'p' AND sk = ')" +
                  number(i) + R"('"})";
  const std::string batch = answer("BatchExecuteStatement", R"({"Statements":[)" + statements + "]}");
  EXPECT_EQ(moved(), "1");
  EXPECT_EQ(batch.find("Error"), std::string::npos) << batch;
  for (int i = 0; i < 20; ++i) EXPECT_THAT(batch, HasSubstr(R"({"sk":{"S":")" + number(i) + R"("}})"));
  const std::string together = answer("ExecuteTransaction", R"({"TransactStatements":[)" + statements + "]}");
  EXPECT_EQ(moved(), "2");
  for (int i = 0; i < 20; ++i) EXPECT_THAT(together, HasSubstr(R"({"sk":{"S":")" + number(i) + R"("}})"));
}

TEST_F(LongCallTest, ReadsThatSkipMuchMove) {
  put_all(1'100, 1);
  remove_all(1'100);
  EXPECT_THAT(answer("Query", query_), HasSubstr(R"("Count":0)"));
  EXPECT_EQ(moved(), "1");
}

TEST_F(LongCallTest, LargeBodiesAreReadElsewhere) {
  answer("PutItem", R"({"TableName":"things","Item":{"pk":{"S":"p"},"sk":{"S":"large"},"text":{"S":")" +
                        std::string(300'000, 'x') + R"("}}})");
  EXPECT_EQ(moved(), "1");
  EXPECT_THAT(answer("Query", query_), HasSubstr(std::string(300'000, 'x')));
}

class FewLongCallsTest : public LongCallTest {
 protected:
  FewLongCallsTest() {
    EndpointOptions options;
    options.max_waiting_long_calls = 0;
    put_all(50, 5'000);
    replace_endpoint(options);
  }
};

TEST_F(FewLongCallsTest, WhatFindsNoRoomIsRefusedAndMayTryAgain) {
  const std::string refused =
      "RequestLimitExceeded: Too many calls that take long are under way: please try again shortly.";
  EXPECT_EQ(refusal("Query", query_), refused);
  EXPECT_EQ(
      refusal("PutItem", R"({"TableName":"things","Item":{"text":{"S":")" + std::string(300'000, 'x') + R"("}}})"),
      refused);
  EXPECT_EQ(metric("postino_dynamodb_long_calls_refused_total"), "2");
  EXPECT_THAT(answer("Query", query_.substr(0, query_.size() - 1) + R"(,"Limit":10})"), HasSubstr(R"("Count":10)"));
}

TEST_F(LongCallTest, NothingLargeIsReadWhileAnswersAreNotTaken) {
  put_all(50, 5'000);
  EndpointOptions options;
  options.answers = std::make_shared<base::MemoryBudget>(300'000);
  replace_endpoint(options);
  EXPECT_THAT(answer("Query", query_), HasSubstr(R"("Count":50)"));
  base::MemoryBudget::Share unread = options.answers->take_anyway(300'000);
  const std::string refused =
      "RequestLimitExceeded: Too many answers have not been taken by their clients: please try again shortly.";
  EXPECT_EQ(refusal("Query", query_), refused);
  EXPECT_EQ(refusal("BatchGetItem", get_all(50)), refused);
  EXPECT_EQ(options.answers->refused(), 2U);
  answer("PutItem", R"({"TableName":"things","Item":)" + key(1) + "}");
  answer("GetItem", R"({"TableName":"things","Key":)" + key(1) + "}");
  unread = options.answers->take_anyway(100'000);
  EXPECT_EQ(refusal("Query", query_), refused) << "there is some room, but not for this answer";
  EXPECT_EQ(options.answers->taken(), 100'000U);
  unread = {};
  EXPECT_THAT(answer("Query", query_), HasSubstr(R"("Count":50)"));
}

TEST_F(LongCallTest, LargeBodiesThatFindNoMemoryAreRefusedAndMayTryAgain) {
  EndpointOptions options;
  options.reading = std::make_shared<base::MemoryBudget>(8 << 20);
  replace_endpoint(options);
  std::string values = R"({"L":[]})";
  for (int i = 0; i < 35'000; ++i) values += R"(,{"L":[]})";
  const std::string large =
      R"({"TableName":"things","Item":{"pk":{"S":"p"},"sk":{"S":"large"},"list":{"L":[)" + values + "]}}}";
  base::MemoryBudget::Share others = options.reading->take(4 << 20);
  EXPECT_EQ(refusal("PutItem", large),
            "RequestLimitExceeded: Too many calls that take long are under way: please try again shortly.");
  EXPECT_EQ(options.reading->refused(), 1U);
  answer("PutItem", R"({"TableName":"things","Item":)" + key(1) + "}");
  others = {};
  answer("PutItem", large);
  EXPECT_EQ(options.reading->taken(), 0U);

  options.reading = std::make_shared<base::MemoryBudget>(1 << 20);
  replace_endpoint(options);
  answer("PutItem", large);  // one that is larger than all there is, alone
}

TEST_F(LongCallTest, WhatStrangersSendIsNotUnpacked) {
  EndpointOptions options;
  options.access_keys = {{"AKID", "secret"}};
  replace_endpoint(options);
  const http::Response refused = send("POST", "/",
                                      {{"Content-Type", "application/x-amz-json-1.0"},
                                       {"X-Amz-Target", "DynamoDB_20120810.ListTables"},
                                       {"Content-Encoding", "gzip"}},
                                      "this is not packed");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("MissingAuthenticationToken"));
}

}  // namespace
}  // namespace postino::wire
