#include <map>

#include "base/hash.h"
#include "item/attribute_text.h"
#include "large_item_environment.h"
#include "store/retry.h"

namespace postino::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LargeItemReadsTest : public testing::Test {
 protected:
  void put(item::Item item) { ASSERT_TRUE(succeeded(store_.large().put_item(put_of(std::move(item))))); }
  void put_raw(item::Item item) { ASSERT_TRUE(succeeded(store_.engine().put_item(put_of(std::move(item))))); }

  static store::QueryRequest query_all(std::optional<std::string> index = "whole-index") {
    store::QueryRequest query;
    query.table_name = tickets_table;
    query.index_name = std::move(index);
    query.key_condition = "GSI1PK = :all";
    query.placeholders.values = item::Map{{":all", "ALL"}};
    return query;
  }
  store::GetItemRequest get_of(const std::string& id) {
    store::GetItemRequest request;
    request.table_name = tickets_table;
    request.key = ticket_key(id);
    return request;
  }

  // Why an item is not whole.
  std::string told_of(const std::string& id) {
    const auto item = store_.get(ticket_key(id));
    const auto whole = item ? check_whole(*item) : base::Result<void>();
    return whole ? "it is whole" : whole.error().message;
  }

  LargeItemEnvironment store_;
};

TEST_F(LargeItemReadsTest, ItemsComeBackWhole) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 2));
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
  EXPECT_EQ(store_.get(ticket_key("2")), small_ticket("2", 2));
  EXPECT_EQ(store_.get(ticket_key("3")), std::nullopt);
  EXPECT_THAT(store_.kept(), SizeIs(1));
}

TEST_F(LargeItemReadsTest, TheTableHasTheRestAndAReference) {
  put(large_ticket("1", 1));
  const item::Item raw = store_.raw(ticket_key("1")).value();
  const std::string name = *store_.kept().begin();
  EXPECT_THAT(name, HasSubstr("large-items/tickets/TICKET#1/METADATA/"));
  EXPECT_FALSE(raw.contains("protocol"));
  EXPECT_FALSE(raw.contains("details"));
  EXPECT_EQ(raw.find("status")->as<std::string>(), "NEW");
  EXPECT_EQ(raw.find("large_data_uri")->as<std::string>(), "s3://test-bucket/" + name);
  EXPECT_EQ(raw.find("large_data_names")->as<item::StringSet>(), item::StringSet({"details", "protocol"}));
  const std::string bytes = store_.objects().get(name).value();
  EXPECT_EQ(raw.find("large_data_sha256")->as<std::string>(), base::to_hex(base::sha256(bytes)));
  EXPECT_EQ(raw.find("large_data_bytes")->as<item::Number>(), item::Number(static_cast<std::int64_t>(bytes.size())));
}

TEST_F(LargeItemReadsTest, QueriesAndScansBringThemBack) {
  for (int i = 1; i <= 3; ++i) put(i == 2 ? small_ticket("2", 2) : large_ticket(std::to_string(i), i));
  const auto queried = store_.large().query(query_all());
  ASSERT_TRUE(succeeded(queried));
  EXPECT_THAT(queried->items,
              testing::UnorderedElementsAre(large_ticket("1", 1), small_ticket("2", 2), large_ticket("3", 3)));
  store::ScanRequest scan;
  scan.table_name = tickets_table;
  const auto scanned = store_.large().scan(scan);
  ASSERT_TRUE(succeeded(scanned));
  EXPECT_THAT(scanned->items, SizeIs(3));
  for (const item::Item& item : scanned->items) EXPECT_TRUE(item.contains("protocol"));
  const auto of_part = store_.large().query(query_all("part-index"));
  ASSERT_TRUE(succeeded(of_part));
  EXPECT_EQ(std::ranges::count_if(of_part->items, [](const item::Item& item) { return item.contains("protocol"); }), 1)
      << "an index of some attributes has those of small items";
}

TEST_F(LargeItemReadsTest, ProjectionsShowWhatWasAskedFor) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 2));
  for (const std::string id : {"1", "2"}) {
    store::GetItemRequest request = get_of(id);
    request.projection = "#s, #d.#v";
    request.placeholders.names = expr::Names{{"#s", "status"}, {"#d", "details"}, {"#v", "version"}};
    const auto found = store_.large().get_item(request);
    ASSERT_TRUE(succeeded(found));
    EXPECT_EQ(*found->item, (item::Item{{"status", "NEW"}, {"details", item::Map{{"version", std::stoi(id)}}}}));
    request = get_of(id);
    request.projection = "PK, version";
    EXPECT_EQ(*store_.large().get_item(request)->item,
              (item::Item{{"PK", "TICKET#" + id}, {"version", std::stoi(id)}}));
  }
  store::QueryRequest query = query_all();
  query.projection = "version, #l";
  query.placeholders.names = expr::Names{{"#l", "protocol"}};
  const auto queried = store_.large().query(query);
  ASSERT_TRUE(succeeded(queried));
  for (const item::Item& item : queried->items) EXPECT_THAT(item, SizeIs(2));
  query.projection = "version,,";
  EXPECT_THAT(fault_of(store_.large().query(query)), HasSubstr("Invalid ProjectionExpression")) << "the store's words";
  query.projection = "version";
  query.placeholders.names.reset();
  query.index_name = "part-index";
  EXPECT_THAT(fault_of(store_.large().query(query)), HasSubstr("part-index")) << "what it does not project";
}

TEST_F(LargeItemReadsTest, BatchesAndTransactionsBringThemBack) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 2));
  store::BatchGetItemRequest batch;
  batch.tables.push_back({tickets_table, {ticket_key("1"), ticket_key("2"), ticket_key("3")}, {}, {}, true});
  const auto got = store_.large().batch_get_item(batch);
  ASSERT_TRUE(succeeded(got));
  EXPECT_THAT(got->tables.at(0).items, testing::UnorderedElementsAre(large_ticket("1", 1), small_ticket("2", 2)));
  store::TransactGetItemsRequest transaction;
  for (const char* id : {"1", "2", "3"}) transaction.gets.push_back({tickets_table, ticket_key(id), {}, {}});
  const auto together = store_.large().transact_get_items(transaction);
  ASSERT_TRUE(succeeded(together));
  EXPECT_THAT(together->items, ElementsAre(large_ticket("1", 1), small_ticket("2", 2), std::nullopt));
}

TEST_F(LargeItemReadsTest, APageOfManyLargeItemsIsShorter) {
  item::Item item = small_ticket("0", 0);
  item.set("protocol", std::string(4 << 20, 'x'));
  for (int i = 0; i < 9; ++i) {
    item.set("PK", "TICKET#" + std::to_string(i));
    put(item);
  }
  store::QueryRequest query = query_all();
  std::size_t count = 0;
  int pages = 0;
  do {
    const auto page = store_.large().query(query);
    ASSERT_TRUE(succeeded(page));
    EXPECT_LE(page->items.size(), 4U);
    for (const item::Item& each : page->items) EXPECT_EQ(each.find("protocol")->as<std::string>().size(), 4U << 20);
    count += page->items.size();
    query.exclusive_start_key = page->last_evaluated_key;
    ++pages;
  } while (query.exclusive_start_key);
  EXPECT_EQ(count, 9U);
  EXPECT_GE(pages, 3);

  store::BatchGetItemRequest batch;
  batch.tables.push_back({tickets_table, {}, {}, {}, true});
  for (int i = 0; i < 9; ++i) batch.tables[0].keys.push_back(ticket_key(std::to_string(i)));
  count = 0;
  while (!batch.tables.empty()) {
    auto got = store_.large().batch_get_item(batch);
    ASSERT_TRUE(succeeded(got));
    EXPECT_LE(got->tables.at(0).items.size(), 4U);
    ASSERT_THAT(got->tables.at(0).items, testing::Not(IsEmpty()));
    count += got->tables.at(0).items.size();
    batch.tables = std::move(got->unprocessed);
  }
  EXPECT_EQ(count, 9U);
}

TEST_F(LargeItemReadsTest, AnItemThatIsWrittenMeanwhileIsReadAgain) {
  put(large_ticket("1", 1));
  const auto write_again = [&] {
    const std::string before = *store_.kept().begin();
    put(large_ticket("1", 2));
    ASSERT_TRUE(store_.objects().remove(before));
  };
  store_.objects().meet_at_get(write_again);
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 2));
  store_.objects().meet_at_get([&] {
    const std::string before = *store_.kept().begin();
    put(small_ticket("1", 3));
    ASSERT_TRUE(store_.objects().remove(before));
  });
  const auto page = store_.large().query(query_all());
  ASSERT_TRUE(succeeded(page));
  EXPECT_THAT(page->items, ElementsAre(small_ticket("1", 3)));
  put(large_ticket("1", 4));
  store_.objects().meet_at_get([&] {
    store::DeleteItemRequest removal;
    removal.table_name = tickets_table;
    removal.key = ticket_key("1");
    ASSERT_TRUE(succeeded(store_.large().delete_item(removal)));
    for (const std::string& name : store_.kept()) ASSERT_TRUE(store_.objects().remove(name));
  });
  const auto empty = store_.large().query(query_all());
  ASSERT_TRUE(succeeded(empty));
  EXPECT_THAT(empty->items, IsEmpty());
  EXPECT_EQ(empty->count, 0);
  put(large_ticket("1", 5));
  store_.objects().meet_at_get(write_again);
  store::TransactGetItemsRequest transaction;
  transaction.gets.push_back({tickets_table, ticket_key("1"), {}, {}});
  const auto together = store_.large().transact_get_items(transaction);
  ASSERT_TRUE(succeeded(together));
  EXPECT_EQ(together->items.at(0), large_ticket("1", 2));
}

TEST_F(LargeItemReadsTest, WhatIsMissingOrDamagedIsNeverPassedOver) {
  put(large_ticket("1", 1));
  const std::string name = *store_.kept().begin();
  const std::string bytes = store_.objects().get(name).value();
  store_.objects().set_outage(true);
  EXPECT_THAT(fault_of(store_.large().get_item(get_of("1"))), HasSubstr("ServiceUnavailable")) << "worth repeating";
  store_.objects().set_outage(true, base::ErrorCode::exhausted);
  EXPECT_FALSE(store::worth_repeating(store_.large().get_item(get_of("1")).error())) << "nobody waits for it";
  store_.objects().set_outage(false);
  std::string changed = bytes;
  changed[changed.size() / 2] = '!';
  ASSERT_TRUE(store_.objects().put(name, changed));
  EXPECT_THAT(told_of("1"), HasSubstr("is not what was written"));
  ASSERT_TRUE(store_.objects().remove(name));
  EXPECT_THAT(told_of("1"), HasSubstr("the object is missing"));
  EXPECT_FALSE(store_.get(ticket_key("1"))->contains("large_data_uri"));
  store::GetItemRequest projected = get_of("1");
  projected.projection = "SK";
  const auto part = store_.large().get_item(projected);
  ASSERT_TRUE(succeeded(part));
  EXPECT_FALSE(check_whole(*part->item)) << "whatever was asked for";
  EXPECT_FALSE(missing_attributes(*part->item).empty());
  EXPECT_EQ(missing_attributes(*part->item), missing_attributes(*store_.large().get_item(get_of("1"))->item));
}

TEST_F(LargeItemReadsTest, OneThatIsDamagedKeepsNoOtherBack) {
  put(large_ticket("1", 1));
  put(large_ticket("3", 1));
  ASSERT_TRUE(store_.objects().remove(*store_.kept().begin()));
  for (const item::AttributeValue& address :
       {item::AttributeValue(17), item::AttributeValue("s3://test-bucket/../../etc/passwd"),
        item::AttributeValue("")}) {
    item::Item item = ticket_key("2");
    item.set("large_data_uri", address);
    item.set("large_data_fault", "a text of another program");
    put_raw(item);
    store::ScanRequest scan;
    scan.table_name = tickets_table;
    const auto scanned = store_.large().scan(scan);
    ASSERT_TRUE(succeeded(scanned));
    std::map<std::string, bool> whole;
    for (const item::Item& each : scanned->items)
      whole[item::attribute_text(each, "PK")] = check_whole(each).has_value();
    EXPECT_EQ(whole, (std::map<std::string, bool>{{"TICKET#1", false}, {"TICKET#2", false}, {"TICKET#3", true}}));
    EXPECT_THAT(told_of("2"), HasSubstr("not its own"));
  }
  store::BatchGetItemRequest batch;
  batch.tables.push_back({});
  batch.tables.front().table_name = tickets_table;
  batch.tables.front().keys = {ticket_key("1"), ticket_key("3")};
  const auto many = store_.large().batch_get_item(batch);
  ASSERT_TRUE(succeeded(many));
  EXPECT_EQ(many->tables.front().items.size(), 2U);
  store::TransactGetItemsRequest transaction;
  transaction.gets.push_back({tickets_table, ticket_key("1"), {}, {}});
  transaction.gets.push_back({tickets_table, ticket_key("3"), {}, {}});
  const auto together = store_.large().transact_get_items(transaction);
  ASSERT_TRUE(succeeded(together));
  EXPECT_FALSE(check_whole(*together->items.at(0)));
  EXPECT_EQ(together->items.at(1), large_ticket("3", 1));
}

TEST_F(LargeItemReadsTest, WhatHasMovedIsToldToThoseWhoAsk) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 1));
  store::GetItemRequest request = get_of("1");
  request.projection = "large_data_names";
  const item::Item raw = store_.raw(ticket_key("1")).value();
  EXPECT_EQ(store_.large().get_item(request)->item.value(),
            (item::Item{{"large_data_names", *raw.find("large_data_names")}}));
  request.key = ticket_key("2");
  EXPECT_EQ(store_.large().get_item(request)->item.value(), item::Item());
}

TEST_F(LargeItemReadsTest, NoItemShowsTheObjectOfAnother) {
  put(large_ticket("1", 1));
  const item::Item first = store_.raw(ticket_key("1")).value();
  item::Item thief = first;
  thief.set("PK", "TICKET#2");
  put_raw(thief);
  EXPECT_THAT(told_of("2"), HasSubstr("not its own"));
  ASSERT_TRUE(store_.objects().put("attachments/secret", "{}"));
  for (const std::string address :
       {"s3://test-bucket/attachments/secret", "s3://other/large-items/TICKET#2/METADATA.json", "file:///etc/passwd",
        "s3://test-bucket/large-items/TICKET#1/METADATA.json"}) {
    item::Item item = ticket_key("2");
    item.set("large_data_uri", address);
    put_raw(item);
    EXPECT_THAT(told_of("2"), HasSubstr("not its own")) << address;
  }
}

TEST_F(LargeItemReadsTest, WhatTheSeedsProgramWroteIsRead) {
  item::Item item = ticket_key("7");
  item.set("status", "NEW");
  item.set("large_data_uri", "s3://test-bucket/large-items/TICKET#7/METADATA.json");
  put_raw(item);
  ASSERT_TRUE(
      store_.objects().put("large-items/TICKET#7/METADATA.json", R"({"protocol": "long", "details": {"n": 1}})"));
  item::Item whole = ticket_key("7");
  whole.set("status", "NEW");
  whole.set("protocol", "long");
  whole.set("details", item::Map{{"n", 1}});
  EXPECT_EQ(store_.get(ticket_key("7")), whole);
}

TEST_F(LargeItemReadsTest, AThreadThatMustNotWaitGivesUp) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 2));
  for (const std::string id : {"1", "2"}) {
    store::ReadAllowance allowance(1'000, 1 << 20);
    store::GetItemRequest request = get_of(id);
    request.allowance = &allowance;
    EXPECT_EQ(store_.large().get_item(request).has_value(), id == "2");
    EXPECT_EQ(allowance.exhausted(), id == "1");
  }
  EXPECT_EQ(store_.objects().gets(), 0);
}

}  // namespace
}  // namespace postino::objects
