// Reads that are given up when they need more than their caller allows.
#include <gmock/gmock.h>

#include <string>

#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

using store::ReadAllowance;

constexpr std::size_t plenty = 1'000'000;

class ReadAllowanceTest : public EngineTest {
 protected:
  ReadAllowanceTest() {
    store::CreateTableRequest request = table("things", "pk:S", "sk:N");
    request.stream = store::StreamSpecification{true, store::StreamViewType::new_image};
    create(request);
  }

  void put_all(int count, std::size_t size = 10) {
    for (int i = 0; i < count; ++i) {
      item::Item item{{"pk", "p"}, {"text", std::string(size, 'x')}};
      item.set("sk", static_cast<std::int64_t>(i));
      ASSERT_EQ(outcome(store().put_item({.table_name = table_name_, .item = std::move(item)})), "ok");
    }
  }
  void remove_all(int first, int count) {
    for (int i = first; i < first + count; ++i) ASSERT_EQ(outcome(store().delete_item({table_name_, key(i)})), "ok");
  }
  static item::Key key(int number) {
    item::Key key{{"pk", "p"}};
    key.set("sk", static_cast<std::int64_t>(number));
    return key;
  }
  store::Answer<store::PageResponse> query(ReadAllowance* allowance, bool forward = true) {
    store::QueryRequest request;
    request.table_name = table_name_;
    request.key_condition = "pk = :p";
    request.placeholders.values = item::Map{{":p", "p"}};
    request.forward = forward;
    request.allowance = allowance;
    return store().query(request);
  }
  store::BatchGetItemRequest batch(int count, ReadAllowance* allowance) {
    store::BatchGetItemRequest request{.tables = {{.table_name = table_name_}}, .allowance = allowance};
    for (int i = 0; i < count; ++i) request.tables.front().keys.push_back(key(i));
    return request;
  }

  std::string table_name_ = "things";
};

TEST_F(ReadAllowanceTest, ReadsThatFitAreAsWithoutIt) {
  put_all(20);
  ReadAllowance allowance(100, 10'000);
  const auto page = query(&allowance);
  ASSERT_EQ(outcome(page), "ok");
  EXPECT_FALSE(allowance.exhausted());
  EXPECT_EQ(page->items, query(nullptr)->items);
}

TEST_F(ReadAllowanceTest, KeysThatWereRemovedCount) {
  put_all(60);
  remove_all(0, 60);
  for (const bool forward : {true, false}) {
    ReadAllowance enough(1'000, plenty);
    EXPECT_EQ(outcome(query(&enough, forward)), "ok");
    ReadAllowance few(50, plenty);
    (void)query(&few, forward);
    EXPECT_TRUE(few.exhausted());
  }
}

TEST_F(ReadAllowanceTest, KeysThatWereRemovedBetweenOthersCountInSum) {
  put_all(300);
  for (int i = 0; i < 300; i += 10) remove_all(i, 9);
  ReadAllowance few(100, plenty);
  (void)query(&few);
  EXPECT_TRUE(few.exhausted()) << "no step skips more than nine keys, but all together do";
  ReadAllowance enough(plenty, plenty);
  EXPECT_EQ(query(&enough)->count, 30);
}

TEST_F(ReadAllowanceTest, BytesCount) {
  put_all(10, 1'000);
  ReadAllowance few(plenty, 5'000);
  (void)query(&few);
  EXPECT_TRUE(few.exhausted());
  ReadAllowance enough(plenty, 20'000);
  EXPECT_EQ(query(&enough)->count, 10);
  EXPECT_FALSE(enough.exhausted());
}

TEST_F(ReadAllowanceTest, SeveralReadsShareIt) {
  put_all(10);
  ReadAllowance allowance(25, plenty);
  EXPECT_EQ(outcome(query(&allowance)), "ok");
  (void)query(&allowance);
  EXPECT_TRUE(allowance.exhausted());
}

TEST_F(ReadAllowanceTest, BatchesTransactionsAndRecordsAreHeldToIt) {
  put_all(10, 1'000);
  {
    ReadAllowance allowance(plenty, 5'000);
    (void)store().batch_get_item(batch(10, &allowance));
    EXPECT_TRUE(allowance.exhausted());
  }
  {
    ReadAllowance allowance(plenty, 5'000);
    store::TransactGetItemsRequest request{.allowance = &allowance};
    for (int i = 0; i < 10; ++i) request.gets.push_back({.table_name = table_name_, .key = key(i)});
    (void)store().transact_get_items(request);
    EXPECT_TRUE(allowance.exhausted());
  }
  ReadAllowance allowance(plenty, 5'000);
  const auto streams = store().list_streams({});
  ASSERT_EQ(outcome(streams), "ok");
  const auto description = store().describe_stream({.stream_arn = streams->streams.front().arn});
  ASSERT_EQ(outcome(description), "ok");
  const auto iterator = store().get_shard_iterator({.stream_arn = streams->streams.front().arn,
                                                    .shard_id = description->shards.front().id,
                                                    .type = store::IteratorType::trim_horizon});
  ASSERT_EQ(outcome(iterator), "ok");
  EXPECT_EQ(store().get_records({.shard_iterator = *iterator})->records.size(), 10u);
  (void)store().get_records({.shard_iterator = *iterator, .allowance = &allowance});
  EXPECT_TRUE(allowance.exhausted());
}

// With five units for reads, and a clock that stands still.
class LimitedReadAllowanceTest : public ReadAllowanceTest {
 protected:
  LimitedReadAllowanceTest() {
    options_.enforce_throughput = true;
    reopen();
    table_name_ = "limited";
    store::CreateTableRequest request = table(table_name_, "pk:S", "sk:N");
    request.billing_mode = store::BillingMode::provisioned;
    request.throughput = {.read_units = 5, .write_units = 100'000};
    create(request);
  }
  std::string read_one() { return outcome(store().get_item({.table_name = table_name_, .key = key(0)})); }
};

TEST_F(LimitedReadAllowanceTest, WhatIsGivenUpIsNotCharged) {
  put_all(10, 4'000);
  for (int i = 0; i < 5; ++i) {
    ReadAllowance of_batch(plenty, 20'000);
    (void)store().batch_get_item(batch(10, &of_batch));
    ASSERT_TRUE(of_batch.exhausted());
    ReadAllowance of_transaction(plenty, 20'000);
    store::TransactGetItemsRequest request{.allowance = &of_transaction};
    for (int k = 0; k < 10; ++k) request.gets.push_back({.table_name = table_name_, .key = key(k)});
    (void)store().transact_get_items(request);
    ASSERT_TRUE(of_transaction.exhausted());
    ReadAllowance of_page(plenty, 20'000);
    (void)query(&of_page);
    ASSERT_TRUE(of_page.exhausted());
  }
  EXPECT_EQ(read_one(), "ok");
}

TEST_F(LimitedReadAllowanceTest, EarlierReadsThatShareItAreNotChargedEither) {
  put_all(10, 4'000);
  ReadAllowance allowance(plenty, 60'000);
  ASSERT_EQ(outcome(query(&allowance)), "ok");
  EXPECT_NE(read_one(), "ok") << "until then it is charged";
  allowance.exhaust();
  EXPECT_EQ(read_one(), "ok");
}

}  // namespace
}  // namespace postino::engine
