// Many callers at once.
#include <atomic>
#include <thread>

#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;

class ConcurrentCallTest : public EndpointTest {
 protected:
  static constexpr int callers = 6;
  static constexpr int calls = 40;

  template <class Work>
  static void at_once(Work work) {
    std::vector<std::thread> threads;
    for (int caller = 0; caller < callers; ++caller) threads.emplace_back([&work, caller] { work(caller); });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(ConcurrentCallTest, EveryUpdateOfOneItemCounts) {
  create_table("counters");
  at_once([&](int) {
    for (int i = 0; i < calls; ++i)
      answer("UpdateItem", R"({"TableName":"counters","Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD n :one",)"
                           R"("ExpressionAttributeValues":{":one":{"N":"1"}}})");
  });
  EXPECT_EQ(answer("GetItem", R"({"TableName":"counters","Key":{"pk":{"S":"a"}},"ProjectionExpression":"n"})"),
            R"({"Item":{"n":{"N":")" + std::to_string(callers * calls) + R"("}}})");
}

TEST_F(ConcurrentCallTest, OneOfManyCreatesAnItem) {
  create_table("once");
  std::atomic<int> created = 0;
  at_once([&](int) {
    for (int i = 0; i < calls; ++i) {
      const http::Response response = call("PutItem", R"({"TableName":"once","Item":{"pk":{"S":")" + std::to_string(i) +
                                                          R"-("}},"ConditionExpression":"attribute_not_exists(pk)"})-");
      if (response.status == 200) ++created;
    }
  });
  EXPECT_EQ(created, calls);
}

TEST_F(ConcurrentCallTest, TablesComeAndGoWhileOthersReadAndWrite) {
  create_table("stays");
  std::atomic<int> made = 0;
  at_once([&](int caller) {
    const std::string own = "table-" + std::to_string(caller);
    for (int i = 0; i < 5; ++i) {
      create_table(own);
      answer("PutItem", R"({"TableName":")" + own + R"(","Item":{"pk":{"S":"a"}}})");
      answer("ExecuteStatement", R"({"Statement":"SELECT * FROM stays WHERE pk = 'a'"})");
      answer("ListTables", "{}");
      answer("DeleteTable", R"({"TableName":")" + own + R"("})");
      ++made;
    }
  });
  EXPECT_EQ(made, callers * 5);
  EXPECT_EQ(answer("ListTables", "{}"), R"({"TableNames":["stays"]})");
  std::string text;
  endpoint().statistics().append_to(text);
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_requests_total{operation=\"CreateTable\",result=\"ok\"} " +
                              std::to_string(callers * 5 + 1) + "\n"));
}

TEST_F(ConcurrentCallTest, LongCallsThatRunAreDoneWhenItHasStopped) {
  create_table("things");
  for (int i = 0; i < 10; ++i)
    answer("PutItem", R"({"TableName":"things","Item":{"pk":{"S":")" + std::to_string(i) + R"("},"text":{"S":")" +
                          std::string(30'000, 'x') + R"("}}})");
  std::atomic<bool> stopped = false;
  std::atomic<int> wrong = 0;
  at_once([&](int) {
    for (int i = 0; i < calls; ++i)
      call_without_waiting("Scan", R"({"TableName":"things"})", [&](const http::Response& response) {
        if (stopped || response.status != 200) ++wrong;
      });
  });
  endpoint().stop();
  stopped = true;
  EXPECT_THAT(refusal("Scan", R"({"TableName":"things"})"), HasSubstr("RequestLimitExceeded"));
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace postino::wire
