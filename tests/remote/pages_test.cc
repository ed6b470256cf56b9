#include <set>

#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using testing::ElementsAre;

class PageStoreTest : public StoreTest {
 protected:
  PageStoreTest() {
    create_indexed_table("mails");
    for (int i = 1; i <= 9; ++i)
      EXPECT_TRUE(store().put_item(put("mails", {{"pk", i % 2 == 0 ? "even" : "odd"},
                                                 {"sk", i},
                                                 {"rank", 10 - i},
                                                 {"state", i < 4 ? "new" : "sent"},
                                                 {"note", "n" + std::to_string(i)}})));
  }

  static store::QueryRequest query_of(const std::string& condition, item::Map values) {
    store::QueryRequest request;
    request.table_name = "mails";
    request.key_condition = condition;
    request.placeholders.values = std::move(values);
    return request;
  }

  // The sort keys of a page.
  static std::vector<int> keys_of(const store::Answer<store::PageResponse>& page) {
    EXPECT_EQ(refusal_of(page), "");
    std::vector<int> keys;
    if (page)
      for (const Item& item : page->items)
        keys.push_back(static_cast<int>(item.find("sk")->as<item::Number>().to_int64().value_or(-1)));
    return keys;
  }
};

TEST_P(PageStoreTest, QueriesInBothDirections) {
  store::QueryRequest request =
      query_of("pk = :pk AND sk BETWEEN :low AND :high", {{":pk", "odd"}, {":low", 3}, {":high", 8}});
  EXPECT_THAT(keys_of(store().query(request)), ElementsAre(3, 5, 7));
  request.forward = false;
  EXPECT_THAT(keys_of(store().query(request)), ElementsAre(7, 5, 3));
}

TEST_P(PageStoreTest, FiltersAndCounts) {
  store::QueryRequest request = query_of("pk = :pk", {{":pk", "odd"}, {":state", "sent"}});
  request.filter = "#state = :state";
  request.placeholders.names = expr::Names{{"#state", "state"}};
  const auto page = store().query(request);
  EXPECT_THAT(keys_of(page), ElementsAre(5, 7, 9));
  EXPECT_EQ(page->count, 3);
  EXPECT_EQ(page->scanned_count, 5);
  request.select = store::Select::count;
  const auto counted = store().query(request);
  EXPECT_TRUE(counted->items.empty());
  EXPECT_EQ(counted->count, 3);
}

TEST_P(PageStoreTest, GoesOnWhereAPageEnded) {
  store::QueryRequest request = query_of("pk = :pk", {{":pk", "odd"}});
  request.limit = 2;
  std::vector<int> all;
  int pages = 0;
  do {
    const auto page = store().query(request);
    for (const int key : keys_of(page)) all.push_back(key);
    request.exclusive_start_key = page->last_evaluated_key;
    ++pages;
  } while (request.exclusive_start_key && pages < 10);
  EXPECT_THAT(all, ElementsAre(1, 3, 5, 7, 9));
  EXPECT_EQ(pages, 3);
}

TEST_P(PageStoreTest, QueriesIndexes) {
  store::QueryRequest request = query_of("#state = :state", {{":state", "new"}});
  request.placeholders.names = expr::Names{{"#state", "state"}};
  request.index_name = "by-state";
  EXPECT_THAT(keys_of(store().query(request)), ElementsAre(1, 2, 3));
  request.limit = 1;
  const auto first = store().query(request);
  ASSERT_TRUE(first && first->last_evaluated_key);
  EXPECT_EQ(*first->last_evaluated_key, (item::Key{{"pk", "odd"}, {"sk", 1}, {"state", "new"}}));

  store::QueryRequest local = query_of("pk = :pk", {{":pk", "even"}});
  local.index_name = "by-rank";
  local.consistent_read = true;
  EXPECT_THAT(keys_of(store().query(local)), ElementsAre(8, 6, 4, 2));
}

TEST_P(PageStoreTest, TellsOfAnIndexThatIsNotThere) {
  store::QueryRequest request = query_of("pk = :pk", {{":pk", "even"}});
  request.index_name = "by-nothing";
  const auto page = store().query(request);
  EXPECT_EQ(refusal_of(page), "ValidationException: The table does not have the specified index: by-nothing");
  EXPECT_EQ(page.error().rule, base::Rule::known_index) << "services know what to do then";
}

TEST_P(PageStoreTest, ScansBySegments) {
  std::multiset<int> seen;
  for (int segment = 0; segment < 3; ++segment) {
    store::ScanRequest request;
    request.table_name = "mails";
    request.segment = segment;
    request.total_segments = 3;
    request.projection = "sk";
    for (const int key : keys_of(store().scan(request))) seen.insert(key);
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_P(PageStoreTest, ScansAnIndexWithAFilterAndTellsUnits) {
  store::ScanRequest request;
  request.table_name = "mails";
  request.index_name = "by-state";
  request.filter = "sk > :five";
  request.placeholders.values = item::Map{{":five", 5}};
  request.return_consumed_capacity = store::ReturnConsumedCapacity::indexes;
  const auto page = store().scan(request);
  EXPECT_EQ(keys_of(page).size(), 4U);
  ASSERT_TRUE(page->consumed_capacity);
  EXPECT_GT(page->consumed_capacity->global_indexes.at("by-state"), 0);
  EXPECT_DOUBLE_EQ(page->consumed_capacity->table, 0);
}

// A page with as many items as one has at most: 1 MB.
TEST_P(PageStoreTest, EndsAPageAtItsLimitInBytes) {
  for (int i = 0; i < 12; ++i)
    ASSERT_TRUE(store().put_item(put("mails", {{"pk", "large"}, {"sk", i}, {"text", std::string(100'000, 'x')}})));
  const auto page = store().query(query_of("pk = :pk", {{":pk", "large"}}));
  EXPECT_EQ(keys_of(page).size(), 11U);
  EXPECT_TRUE(page->last_evaluated_key);
}

ON_EVERY_STORE(PageStoreTest);

}  // namespace
}  // namespace postino::remote
