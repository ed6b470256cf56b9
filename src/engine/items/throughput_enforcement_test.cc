#include "engine/items/throughput_enforcement.h"

#include <atomic>
#include <thread>

#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

using store::ErrorType;
using store::ThrottlingReason;
using testing::ElementsAre;
using testing::SizeIs;

const std::string table_text =
    "ProvisionedThroughputExceededException: The level of configured provisioned throughput for the table was "
    "exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API.";
const std::string index_text =
    "ProvisionedThroughputExceededException: The level of configured provisioned throughput for one or more global "
    "secondary indexes of the table was exceeded. Consider increasing your provisioning level for the "
    "under-provisioned global secondary indexes with the UpdateTable API.";
const std::string on_demand_text =
    "ThrottlingException: Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html";
const std::string arn_of_tables = "arn:aws:dynamodb:us-east-1:000000000000:table/";

template <class Answer>
std::vector<ThrottlingReason> reasons_of(const Answer& answer) {
  if (answer || !answer.error().details) return {};
  return answer.error().details->throttling_reasons;
}

template <class Answer>
std::vector<std::string> codes_of(const Answer& answer) {
  std::vector<std::string> codes;
  if (answer || !answer.error().details) return codes;
  for (const store::CancellationReason& reason : answer.error().details->reasons) codes.push_back(reason.code);
  return codes;
}

class ThroughputTest : public EngineTest {
 protected:
  ThroughputTest() {
    options_.enforce_throughput = true;
    reopen();
  }

  // A table with the string hash key pk and, if wanted, a global index by-g.
  static store::CreateTableRequest provisioned(std::string name, store::Throughput throughput,
                                               std::optional<store::Throughput> index = {}) {
    store::CreateTableRequest request = table(std::move(name), "pk:S");
    if (index) add_global_index(request, "by-g", "g:S");
    request.billing_mode = store::BillingMode::provisioned;
    request.throughput = throughput;
    if (index) request.global_indexes->front().throughput = index;
    return request;
  }
  static store::PutItemRequest put_request(const std::string& table_name, std::string pk) {
    return {.table_name = table_name, .item = {{"pk", std::move(pk)}}};
  }
  static store::PutItemRequest put_in_index(const std::string& table_name, std::string pk) {
    return {.table_name = table_name, .item = {{"pk", std::move(pk)}, {"g", "group"}}};
  }
  std::string try_put(const std::string& table_name, const std::string& pk = "k") {
    return outcome(store().put_item(put_request(table_name, pk)));
  }
  auto try_get(const std::string& table_name, bool consistent = false) {
    return store().get_item({.table_name = table_name, .key = {{"pk", "k"}}, .consistent_read = consistent});
  }
  store::Answer<store::PageResponse> query_group(const std::string& table_name) {
    store::QueryRequest request;
    request.table_name = table_name;
    request.index_name = "by-g";
    request.key_condition = "g = :g";
    request.placeholders.values = item::Map{{":g", "group"}};
    return store().query(request);
  }
  void provision(const std::string& table_name, store::Throughput throughput) {
    store::UpdateTableRequest request;
    request.table_name = table_name;
    request.throughput = throughput;
    ASSERT_EQ(outcome(store().update_table(request)), "ok");
  }
};

TEST(ThroughputBucket, KeepsFiveMinutesOfWhatIsNotUsed) {
  ThroughputBucket bucket(engine_test_start);
  const base::TimePoint later = engine_test_start + std::chrono::hours(1);
  EXPECT_TRUE(bucket.admits(2, later));
  bucket.take(599);
  EXPECT_TRUE(bucket.admits(2, later));
  bucket.take(1);
  EXPECT_FALSE(bucket.admits(2, later));
}

TEST(ThroughputBucket, IsNotEmptiedByAClockSetBack) {
  ThroughputBucket bucket(engine_test_start);
  EXPECT_TRUE(bucket.admits(1, engine_test_start));
  bucket.take(1);
  EXPECT_FALSE(bucket.admits(1, engine_test_start - std::chrono::hours(1)));
  EXPECT_FALSE(bucket.admits(1, engine_test_start));
  EXPECT_TRUE(bucket.admits(1, engine_test_start + std::chrono::seconds(1)));
}

TEST(ThroughputBucket, ANewRateCountsFromNowOn) {
  ThroughputBucket bucket(engine_test_start);
  const base::TimePoint change = engine_test_start + std::chrono::seconds(9);
  bucket.settle(1, change);  // ten units by now
  const base::TimePoint later = change + std::chrono::seconds(2);
  EXPECT_TRUE(bucket.admits(100, later));
  bucket.take(210);
  EXPECT_FALSE(bucket.admits(100, later));
}

TEST_F(EngineTest, ThroughputIsNotEnforcedUnlessAskedFor) {
  store::CreateTableRequest request = table("aaa", "pk:S");
  request.billing_mode = store::BillingMode::provisioned;
  request.throughput = {1, 1};
  create(request);
  for (int i = 0; i < 20; ++i) {
    put("aaa", R"({"pk":{"S":"k"}})");
    EXPECT_EQ(get("aaa", R"({"pk":{"S":"k"}})"), R"({"pk":{"S":"k"}})");
  }
}

TEST_F(ThroughputTest, WritesRunOutAndComeBack) {
  create(provisioned("aaa", {1, 2}));
  EXPECT_EQ(try_put("aaa", "1"), "ok");
  EXPECT_EQ(try_put("aaa", "2"), "ok");
  const auto throttled = store().put_item(put_request("aaa", "3"));
  EXPECT_EQ(outcome(throttled), table_text);
  EXPECT_THAT(reasons_of(throttled),
              ElementsAre(ThrottlingReason{"TableWriteProvisionedThroughputExceeded", arn_of_tables + "aaa"}));
  EXPECT_EQ(get("aaa", R"({"pk":{"S":"3"}})"), "");
  clock().advance(std::chrono::milliseconds(500));
  EXPECT_EQ(try_put("aaa", "3"), "ok");
  EXPECT_EQ(try_put("aaa", "4"), table_text);
}

TEST_F(ThroughputTest, EveryKindOfWriteIsHeldToIt) {
  create(provisioned("aaa", {1, 1}));
  ASSERT_EQ(try_put("aaa"), "ok");
  store::UpdateItemRequest update{.table_name = "aaa", .key = {{"pk", "k"}}, .update = "SET a = :a"};
  update.placeholders.values = item::Map{{":a", 1}};
  EXPECT_EQ(outcome(store().update_item(update)), table_text);
  EXPECT_EQ(outcome(store().delete_item({.table_name = "aaa", .key = {{"pk", "k"}}})), table_text);
  EXPECT_EQ(get("aaa", R"({"pk":{"S":"k"}})"), R"({"pk":{"S":"k"}})");
}

TEST_F(ThroughputTest, WhatALargeItemTakesTooMuchIsMadeUpFor) {
  create(provisioned("aaa", {1, 1}));
  store::PutItemRequest large = put_request("aaa", "large");
  large.item.set("v", std::string(4'500, 'x'));
  EXPECT_EQ(outcome(store().put_item(large)), "ok");  // one unit there, five taken
  clock().advance(std::chrono::seconds(4));
  EXPECT_EQ(try_put("aaa"), table_text);
  clock().advance(std::chrono::milliseconds(1));
  EXPECT_EQ(try_put("aaa"), "ok");
}

TEST_F(ThroughputTest, UnusedCapacityServesABurst) {
  create(provisioned("aaa", {1, 1}));
  clock().advance(std::chrono::hours(1));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(try_put("aaa"), "ok") << i;
  EXPECT_EQ(try_put("aaa"), table_text);
}

TEST_F(ThroughputTest, ReadsCountByConsistency) {
  create(provisioned("aaa", {1, 1}));
  EXPECT_EQ(outcome(try_get("aaa")), "ok");
  EXPECT_EQ(outcome(try_get("aaa")), "ok");
  const auto throttled = try_get("aaa");
  EXPECT_EQ(outcome(throttled), table_text);
  EXPECT_THAT(reasons_of(throttled),
              ElementsAre(ThrottlingReason{"TableReadProvisionedThroughputExceeded", arn_of_tables + "aaa"}));
  EXPECT_EQ(try_put("aaa"), "ok");
  clock().advance(std::chrono::seconds(1));
  EXPECT_EQ(outcome(try_get("aaa", true)), "ok");
  EXPECT_EQ(outcome(try_get("aaa", true)), table_text);
}

TEST_F(ThroughputTest, QueriesAndScansTakeFromWhatTheyRead) {
  create(provisioned("aaa", {1, 10}, store::Throughput{1, 10}));
  ASSERT_EQ(outcome(store().put_item(put_in_index("aaa", "k"))), "ok");
  EXPECT_EQ(query_group("aaa")->count, 1);
  EXPECT_EQ(query_group("aaa")->count, 1);
  const auto throttled = query_group("aaa");
  EXPECT_EQ(outcome(throttled), index_text);
  EXPECT_THAT(reasons_of(throttled), ElementsAre(ThrottlingReason{"IndexReadProvisionedThroughputExceeded",
                                                                  arn_of_tables + "aaa/index/by-g"}));
  store::ScanRequest scan;
  scan.table_name = "aaa";
  scan.consistent_read = true;
  EXPECT_EQ(store().scan(scan)->count, 1);
  EXPECT_EQ(outcome(store().scan(scan)), table_text);
}

TEST_F(ThroughputTest, LocalIndexesLiveOnTheTable) {
  store::CreateTableRequest request = table("aaa", "pk:S", "sk:S");
  add_local_index(request, "by-x", "x:N");
  request.billing_mode = store::BillingMode::provisioned;
  request.throughput = {1, 2};
  create(request);
  put("aaa", R"({"pk":{"S":"p"},"sk":{"S":"s"},"x":{"N":"1"}})");  // one for the item, one for the index
  EXPECT_EQ(outcome(store().put_item({.table_name = "aaa", .item = {{"pk", "p"}, {"sk", "t"}}})), table_text);
  store::QueryRequest query;
  query.table_name = "aaa";
  query.index_name = "by-x";
  query.key_condition = "pk = :p";
  query.placeholders.values = item::Map{{":p", "p"}};
  query.consistent_read = true;
  EXPECT_EQ(store().query(query)->count, 1);
  EXPECT_THAT(reasons_of(store().query(query)),
              ElementsAre(ThrottlingReason{"TableReadProvisionedThroughputExceeded", arn_of_tables + "aaa"}));
}

TEST_F(ThroughputTest, AnIndexHoldsBackTheWritesOfItsTable) {
  create(provisioned("aaa", {10, 3}, store::Throughput{1, 1}));
  EXPECT_EQ(outcome(store().put_item(put_in_index("aaa", "1"))), "ok");
  const auto throttled = store().put_item(put_in_index("aaa", "2"));
  EXPECT_EQ(outcome(throttled), index_text);
  EXPECT_THAT(reasons_of(throttled), ElementsAre(ThrottlingReason{"IndexWriteProvisionedThroughputExceeded",
                                                                  arn_of_tables + "aaa/index/by-g"}));
  EXPECT_EQ(get("aaa", R"({"pk":{"S":"2"}})"), "");
  // Nothing was taken from the table for it, and what is not in the index is not held back.
  EXPECT_EQ(try_put("aaa", "3"), "ok");
  EXPECT_EQ(try_put("aaa", "4"), "ok");
  EXPECT_EQ(try_put("aaa", "5"), table_text);
}

TEST_F(ThroughputTest, FailedConditionsCostAndBrokenRulesDoNot) {
  create(provisioned("aaa", {10, 2}));
  ASSERT_EQ(try_put("aaa"), "ok");
  store::PutItemRequest conditional = put_request("aaa", "k");
  conditional.item.set("", 1);
  EXPECT_EQ(store().put_item(conditional).error().type, ErrorType::validation);
  conditional = put_request("aaa", "k");
  conditional.condition = "attribute_not_exists(pk)";
  EXPECT_EQ(store().put_item(conditional).error().type, ErrorType::conditional_check_failed);
  EXPECT_EQ(outcome(store().put_item(conditional)), table_text);
}

TEST_F(ThroughputTest, ABatchReadsWhatItCan) {
  create(provisioned("aaa", {2, 10}));
  create(provisioned("bbb", {5, 10}));
  for (const char* pk : {"1", "2", "3"}) ASSERT_EQ(try_put("aaa", pk), "ok");
  store::BatchGetItemRequest request;
  store::BatchGetTable keys{.table_name = "aaa", .consistent_read = true};
  for (const char* pk : {"1", "2", "3"}) keys.keys.push_back({{"pk", pk}});
  request.tables = {keys, {.table_name = "bbb", .keys = {item::Key{{"pk", "x"}}}}};
  const auto batch = store().batch_get_item(request);
  ASSERT_EQ(outcome(batch), "ok");
  EXPECT_THAT(batch->tables[0].items, SizeIs(2));
  EXPECT_EQ(batch->tables[1].table_name, "bbb");
  ASSERT_THAT(batch->unprocessed, SizeIs(1));
  EXPECT_EQ(batch->unprocessed[0].table_name, "aaa");
  EXPECT_THAT(batch->unprocessed[0].keys, ElementsAre(item::Key{{"pk", "3"}}));
  EXPECT_TRUE(batch->unprocessed[0].consistent_read);

  request.tables.pop_back();
  EXPECT_EQ(outcome(store().batch_get_item(request)), table_text);
}

TEST_F(ThroughputTest, ABatchWritesWhatItCan) {
  create(provisioned("aaa", {10, 3}, store::Throughput{10, 1}));
  store::BatchWriteItemRequest request;
  store::BatchWriteTable writes{.table_name = "aaa"};
  for (const char* pk : {"1", "2"}) writes.writes.push_back(store::BatchPut{put_in_index("aaa", pk).item});
  for (const char* pk : {"3", "4", "5"}) writes.writes.push_back(store::BatchPut{put_request("aaa", pk).item});
  request.tables = {writes};
  request.report.consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto batch = store().batch_write_item(request);
  ASSERT_EQ(outcome(batch), "ok");
  ASSERT_THAT(batch->unprocessed, SizeIs(1));
  EXPECT_EQ(batch->unprocessed[0].table_name, "aaa");
  std::vector<std::string> left;  // 2 for the index's sake, 5 for the table's
  for (const store::BatchWrite& write : batch->unprocessed[0].writes)
    left.push_back(std::get<store::BatchPut>(write).item.find("pk")->as<std::string>());
  EXPECT_THAT(left, ElementsAre("2", "5"));
  EXPECT_EQ(batch->consumed_capacity.at(0).total, 4);
  EXPECT_EQ(store().describe_table("aaa")->item_count, 3);

  EXPECT_EQ(outcome(store().batch_write_item(request)), table_text);
  EXPECT_EQ(store().describe_table("aaa")->item_count, 3);
}

TEST_F(ThroughputTest, ATransactionIsCancelledAsAWhole) {
  create(provisioned("aaa", {1, 1}));
  create(provisioned("bbb", {1, 2}));
  ASSERT_EQ(try_put("aaa", "first"), "ok");
  store::TransactWriteItemsRequest request;
  request.actions = {store::TransactPut{.table_name = "bbb", .item = {{"pk", "k"}}},
                     store::TransactPut{.table_name = "aaa", .item = {{"pk", "k"}}}};
  const auto cancelled = store().transact_write_items(request);
  EXPECT_EQ(outcome(cancelled),
            "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific "
            "reasons [None, ProvisionedThroughputExceeded]");
  EXPECT_THAT(codes_of(cancelled), ElementsAre("None", "ProvisionedThroughputExceeded"));
  EXPECT_EQ("ProvisionedThroughputExceededException: " + cancelled.error().details->reasons[1].message, table_text);
  EXPECT_EQ(get("bbb", R"({"pk":{"S":"k"}})"), "");
  clock().advance(std::chrono::milliseconds(1));
  EXPECT_EQ(outcome(store().transact_write_items(request)), "ok");
  // The two units of bbb were still there for it, and a bit is left.
  EXPECT_EQ(try_put("bbb"), "ok");
  EXPECT_EQ(try_put("bbb"), table_text);
}

TEST_F(ThroughputTest, AnIndexCancelsATransactionToo) {
  create(provisioned("aaa", {10, 10}, store::Throughput{1, 1}));
  ASSERT_EQ(outcome(store().put_item(put_in_index("aaa", "1"))), "ok");
  store::TransactWriteItemsRequest request;
  request.actions = {store::TransactPut{.table_name = "aaa", .item = put_in_index("aaa", "2").item},
                     store::TransactPut{.table_name = "aaa", .item = put_request("aaa", "3").item}};
  EXPECT_THAT(codes_of(store().transact_write_items(request)), ElementsAre("ProvisionedThroughputExceeded", "None"));
  EXPECT_EQ(store().describe_table("aaa")->item_count, 1);
}

TEST_F(ThroughputTest, TransactionalReadsAndRepeatsTakeReadUnits) {
  create(provisioned("aaa", {2, 10}));
  store::TransactGetItemsRequest read;
  read.gets = {{.table_name = "aaa", .key = {{"pk", "k"}}}};
  EXPECT_EQ(outcome(store().transact_get_items(read)), "ok");
  EXPECT_THAT(codes_of(store().transact_get_items(read)), ElementsAre("ProvisionedThroughputExceeded"));

  clock().advance(std::chrono::seconds(1));
  store::TransactWriteItemsRequest write;
  write.actions = {store::TransactPut{.table_name = "aaa", .item = {{"pk", "k"}}}};
  write.client_request_token = "token";
  EXPECT_EQ(outcome(store().transact_write_items(write)), "ok");
  EXPECT_EQ(outcome(store().transact_write_items(write)), "ok");
  EXPECT_THAT(codes_of(store().transact_write_items(write)), ElementsAre("ProvisionedThroughputExceeded"));
  EXPECT_EQ(outcome(try_get("aaa")), table_text);
}

TEST_F(ThroughputTest, OnDemandTablesHaveTheirCeilings) {
  store::CreateTableRequest request = table("aaa", "pk:S");
  add_global_index(request, "by-g", "g:S");
  request.on_demand = {1, 2};
  request.global_indexes->front().on_demand = {{}, 1};
  create(request);
  EXPECT_EQ(outcome(store().put_item(put_in_index("aaa", "1"))), "ok");
  const auto by_index = store().put_item(put_in_index("aaa", "2"));
  EXPECT_EQ(outcome(by_index), on_demand_text);
  EXPECT_THAT(reasons_of(by_index), ElementsAre(ThrottlingReason{"IndexWriteMaxOnDemandThroughputExceeded",
                                                                 arn_of_tables + "aaa/index/by-g"}));
  EXPECT_EQ(try_put("aaa"), "ok");
  const auto by_table = store().put_item(put_request("aaa", "k"));
  EXPECT_EQ(outcome(by_table), on_demand_text);
  EXPECT_THAT(reasons_of(by_table),
              ElementsAre(ThrottlingReason{"TableWriteMaxOnDemandThroughputExceeded", arn_of_tables + "aaa"}));
  EXPECT_EQ(outcome(try_get("aaa", true)), "ok");
  EXPECT_THAT(reasons_of(try_get("aaa")),
              ElementsAre(ThrottlingReason{"TableReadMaxOnDemandThroughputExceeded", arn_of_tables + "aaa"}));
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{.table_name = "aaa", .item = {{"pk", "k"}}}};
  EXPECT_THAT(codes_of(store().transact_write_items(transaction)), ElementsAre("ThrottlingError"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(outcome(query_group("aaa")), "ok");  // no ceiling there
}

TEST_F(ThroughputTest, OnDemandWithoutCeilingsIsUnlimited) {
  create(table("aaa", "pk:S"));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(try_put("aaa"), "ok");
}

// A put of this takes 400 units, a consistent read 100.
item::Item large_item(std::string pk, std::string g = "group") {
  return {{"pk", std::move(pk)}, {"g", std::move(g)}, {"x", std::string(399 << 10, 'x')}};
}

TEST_F(ThroughputTest, APartitionGivesAThousandWritesASecond) {
  create(table("aaa", "pk:S"));
  const store::PutItemRequest put{.table_name = "aaa", .item = large_item("hot")};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(outcome(store().put_item(put)), "ok") << i;
  const auto refused = store().put_item(put);
  EXPECT_EQ(outcome(refused), on_demand_text);
  EXPECT_THAT(reasons_of(refused),
              ElementsAre(ThrottlingReason{"TableWriteKeyRangeThroughputExceeded", arn_of_tables + "aaa"}));
  EXPECT_EQ(try_put("aaa", "other"), "ok");
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{.table_name = "aaa", .item = {{"pk", "other"}}},
                         store::TransactPut{.table_name = "aaa", .item = {{"pk", "hot"}}}};
  EXPECT_THAT(codes_of(store().transact_write_items(transaction)), ElementsAre("None", "ThrottlingError"));
  store::BatchWriteItemRequest batch;
  batch.tables = {{"aaa", {store::BatchPut{{{"pk", "other"}}}, store::BatchPut{{{"pk", "hot"}}}}}};
  EXPECT_THAT(store().batch_write_item(batch)->unprocessed, SizeIs(1));
  clock().advance(std::chrono::seconds(1));
  EXPECT_EQ(outcome(store().put_item(put)), "ok");
}

TEST_F(ThroughputTest, APartitionGivesThreeThousandReadsASecond) {
  create(provisioned("aaa", {100'000, 100'000}));
  ASSERT_EQ(outcome(store().put_item({.table_name = "aaa", .item = large_item("k")})), "ok");
  for (int i = 0; i < 30; ++i) ASSERT_EQ(outcome(try_get("aaa", true)), "ok") << i;
  const auto refused = try_get("aaa");
  EXPECT_EQ(outcome(refused), table_text);
  EXPECT_THAT(reasons_of(refused),
              ElementsAre(ThrottlingReason{"TableReadKeyRangeThroughputExceeded", arn_of_tables + "aaa"}));
  store::QueryRequest query;
  query.table_name = "aaa";
  query.key_condition = "pk = :pk";
  query.placeholders.values = item::Map{{":pk", "k"}};
  EXPECT_EQ(outcome(store().query(query)), table_text);
  store::ScanRequest scan;
  scan.table_name = "aaa";
  EXPECT_EQ(outcome(store().scan(scan)), "ok");  // of no one partition
}

TEST_F(ThroughputTest, PartitionsOfIndexesHaveTheSameCeilings) {
  store::CreateTableRequest request = table("aaa", "pk:S");
  add_global_index(request, "by-g", "g:S");
  create(request);
  for (const char* pk : {"1", "2", "3"})
    ASSERT_EQ(outcome(store().put_item({.table_name = "aaa", .item = large_item(pk)})), "ok") << pk;
  const auto refused = store().put_item({.table_name = "aaa", .item = large_item("4")});
  EXPECT_THAT(reasons_of(refused),
              ElementsAre(ThrottlingReason{"IndexWriteKeyRangeThroughputExceeded", arn_of_tables + "aaa/index/by-g"}));
  EXPECT_EQ(outcome(store().put_item({.table_name = "aaa", .item = large_item("4", "other")})), "ok");
}

TEST(PartitionBuckets, KeysThatAreNotUsedAreForgotten) {
  PartitionBuckets buckets(1);
  base::TimePoint now = engine_test_start;
  for (std::uint32_t partition = 0; partition < 20'000; ++partition) {
    if (partition == 10'000) now += std::chrono::seconds(2);
    buckets.take(partition, 1, now);
  }
  EXPECT_TRUE(buckets.admits(0, now));
  EXPECT_FALSE(buckets.admits(10'000, now));
  EXPECT_FALSE(buckets.admits(19'999, now));
}

TEST_F(ThroughputTest, MoreThroughputHelpsFromThenOn) {
  create(provisioned("aaa", {1, 1}));
  ASSERT_EQ(try_put("aaa"), "ok");
  clock().advance(std::chrono::seconds(3));
  provision("aaa", {1, 10});  // three units so far
  clock().advance(std::chrono::seconds(1));
  for (int i = 0; i < 13; ++i) ASSERT_EQ(try_put("aaa"), "ok") << i;
  EXPECT_EQ(try_put("aaa"), table_text);
}

TEST_F(ThroughputTest, ANewLimitStartsWithASecondsWorth) {
  create(table("aaa", "pk:S"));
  clock().advance(std::chrono::hours(1));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(try_put("aaa"), "ok");
  store::UpdateTableRequest request;
  request.table_name = "aaa";
  request.billing_mode = store::BillingMode::provisioned;
  request.throughput = {1, 2};
  ASSERT_EQ(outcome(store().update_table(request)), "ok");
  EXPECT_EQ(try_put("aaa"), "ok");
  EXPECT_EQ(try_put("aaa"), "ok");
  EXPECT_EQ(try_put("aaa"), table_text);
}

TEST_F(ThroughputTest, ExpiryIsFree) {
  create(provisioned("aaa", {10, 1}, store::Throughput{1, 1}));
  ASSERT_TRUE(store().update_time_to_live("aaa", {"expires", true}));
  store::PutItemRequest request = put_in_index("aaa", "k");
  request.item.set("expires", base::epoch_seconds(engine_test_start));
  ASSERT_EQ(outcome(store().put_item(request)), "ok");
  clock().advance(std::chrono::milliseconds(1'500));
  ASSERT_TRUE(engine().run_maintenance_once());
  ASSERT_EQ(get("aaa", R"({"pk":{"S":"k"}})"), "");
  EXPECT_EQ(outcome(store().put_item(put_in_index("aaa", "k"))), "ok");
}

TEST_F(ThroughputTest, LimitsHoldAfterARestart) {
  create(provisioned("aaa", {1, 1}, store::Throughput{1, 1}));
  clock().advance(std::chrono::seconds(9));
  reopen();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(outcome(store().put_item(put_in_index("aaa", std::to_string(i)))), "ok");
  EXPECT_EQ(try_put("aaa"), table_text);
}

using ConcurrentThroughputTest = ThroughputTest;

// The bucket may be overdrawn by what is under way at the moment it runs dry: one operation of each other thread.
TEST_F(ConcurrentThroughputTest, AllThreadsTogetherGetWhatIsThere) {
  constexpr int threads = 4;
  constexpr int units = 200;
  create(provisioned("aaa", {units, units}, store::Throughput{units, units}));
  std::atomic<int> written = 0;
  std::atomic<int> read = 0;
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread)
    workers.emplace_back([&, thread] {
      for (int i = 0;; ++i) {
        const auto put = store().put_item(put_in_index("aaa", std::to_string(thread) + "-" + std::to_string(i)));
        const auto got = try_get("aaa", true);
        written += put ? 1 : 0;
        read += got ? 1 : 0;
        if (!put && !got) return;
      }
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_GE(written, units);
  EXPECT_LT(written, units + threads);
  EXPECT_GE(read, units);
  EXPECT_LT(read, units + threads);
  EXPECT_EQ(store().describe_table("aaa")->item_count, written);
}

TEST_F(ConcurrentThroughputTest, LimitsChangeWhileTheyAreUsed) {
  create(provisioned("aaa", {1, 1}));
  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int thread = 0; thread < 3; ++thread)
    workers.emplace_back([&, thread] {
      while (!stop) {
        const auto put = store().put_item(put_request("aaa", std::to_string(thread)));
        EXPECT_TRUE(put || put.error().type == ErrorType::provisioned_throughput_exceeded);
      }
    });
  for (int units = 2; units < 20; ++units) {
    provision("aaa", {units, units});
    clock().advance(std::chrono::seconds(1));
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
  clock().advance(std::chrono::hours(1));
  EXPECT_EQ(try_put("aaa"), "ok");
}

}  // namespace
}  // namespace postino::engine
