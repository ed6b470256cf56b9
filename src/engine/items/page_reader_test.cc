#include "engine/items/page_reader.h"

#include <algorithm>
#include <set>

#include "engine/engine_testing.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PageReaderTest : public EngineTest {
 protected:
  PageReaderTest() {
    store::CreateTableRequest request = table("things", "pk:S", "sk:S");
    add_local_index(request, "by-x", "x:N", store::ProjectionType::keys_only);
    add_global_index(request, "by-color", "color:S", "x:N", store::ProjectionType::include, {"name"});
    create(request);
    create(table("numbers", "pk:S", "n:N"));
    for (const char* sk : {"a", "ab", "abc", "b", "c"})
      put("things", R"({"pk":{"S":"p"},"sk":{"S":")" + std::string(sk) + R"("}})");
    put("things", R"({"pk":{"S":"other"},"sk":{"S":"ab"}})");
  }

  store::QueryRequest query(std::string_view condition, std::string_view values) {
    store::QueryRequest request;
    request.table_name = "things";
    request.key_condition = std::string(condition);
    request.placeholders = placeholders({}, values);
    return request;
  }
  // The named attribute of every item of a page, as text.
  static std::vector<std::string> column(const store::Answer<store::PageResponse>& page, std::string_view name) {
    std::vector<std::string> result;
    if (!page) return {outcome(page)};
    for (const item::Item& item : page->items) {
      const item::AttributeValue* value = item.find(name);
      if (value == nullptr)
        result.emplace_back("-");
      else if (const auto* number = value->get_if<item::Number>())
        result.push_back(number->to_string());
      else
        result.push_back(value->as<std::string>());
    }
    return result;
  }
  std::vector<std::string> sort_keys(std::string_view condition, std::string_view values) {
    return column(store().query(query(condition, values)), "sk");
  }
};

TEST_F(PageReaderTest, EachOperatorSelectsItsRange) {
  EXPECT_THAT(sort_keys("pk = :p", R"({":p":{"S":"p"}})"), ElementsAre("a", "ab", "abc", "b", "c"));
  const auto with = [&](const char* condition) {
    return sort_keys(std::string("pk = :p AND ") + condition, R"({":p":{"S":"p"},":v":{"S":"ab"}})");
  };
  EXPECT_THAT(with("sk = :v"), ElementsAre("ab"));
  EXPECT_THAT(with("sk < :v"), ElementsAre("a"));
  EXPECT_THAT(with("sk <= :v"), ElementsAre("a", "ab"));
  EXPECT_THAT(with("sk > :v"), ElementsAre("abc", "b", "c"));
  EXPECT_THAT(with("sk >= :v"), ElementsAre("ab", "abc", "b", "c"));
  EXPECT_THAT(with("begins_with(sk, :v)"), ElementsAre("ab", "abc"));
  EXPECT_THAT(sort_keys("pk = :p AND sk BETWEEN :v AND :w", R"({":p":{"S":"p"},":v":{"S":"ab"},":w":{"S":"b"}})"),
              ElementsAre("ab", "abc", "b"));
}

TEST_F(PageReaderTest, NumbersAreOrderedByValue) {
  for (const char* n : {"10", "-1", "0", "2", "1e2", "-1e2", "0.5"})
    put("numbers", R"({"pk":{"S":"p"},"n":{"N":")" + std::string(n) + R"("}})");
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.table_name = "numbers";
  EXPECT_THAT(column(store().query(request), "n"), ElementsAre("-100", "-1", "0", "0.5", "2", "10", "100"));
  request.forward = false;
  EXPECT_THAT(column(store().query(request), "n"), ElementsAre("100", "10", "2", "0.5", "0", "-1", "-100"));
  request = query("pk = :p AND n > :n", R"({":p":{"S":"p"},":n":{"N":"-1.5"}})");
  request.table_name = "numbers";
  EXPECT_THAT(column(store().query(request), "n"), ElementsAre("-1", "0", "0.5", "2", "10", "100"));
}

TEST_F(PageReaderTest, PagesFollowEachOtherInBothDirections) {
  for (const bool forward : {true, false}) {
    store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
    request.forward = forward;
    request.limit = 2;
    std::vector<std::string> seen;
    int pages = 0;
    do {
      const auto page = store().query(request);
      ASSERT_TRUE(page);
      for (const std::string& sk : column(page, "sk")) seen.push_back(sk);
      request.exclusive_start_key = page->last_evaluated_key;
      ++pages;
    } while (request.exclusive_start_key);
    std::vector<std::string> expected = {"a", "ab", "abc", "b", "c"};
    if (!forward) std::ranges::reverse(expected);
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(pages, 3);
  }
}

TEST_F(PageReaderTest, AFullPageHasAKeyEvenWhenNothingFollows) {
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.limit = 5;
  const auto page = store().query(request);
  ASSERT_TRUE(page->last_evaluated_key);
  EXPECT_EQ(item::to_json(*page->last_evaluated_key), R"({"pk":{"S":"p"},"sk":{"S":"c"}})");
  request.exclusive_start_key = page->last_evaluated_key;
  const auto rest = store().query(request);
  EXPECT_THAT(rest->items, IsEmpty());
  EXPECT_FALSE(rest->last_evaluated_key);
  request.exclusive_start_key.reset();
  request.limit = 6;
  EXPECT_FALSE(store().query(request)->last_evaluated_key);
}

TEST_F(PageReaderTest, TheLimitCountsItemsBeforeTheFilter) {
  put("things", R"({"pk":{"S":"p"},"sk":{"S":"b"},"keep":{"BOOL":true}})");
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.filter = "attribute_exists(keep)";
  request.limit = 3;
  const auto first = store().query(request);
  EXPECT_EQ(first->count, 0);
  EXPECT_EQ(first->scanned_count, 3);
  ASSERT_TRUE(first->last_evaluated_key);
  request.exclusive_start_key = first->last_evaluated_key;
  const auto second = store().query(request);
  EXPECT_EQ(second->count, 1);
  EXPECT_EQ(second->scanned_count, 2);
  EXPECT_FALSE(second->last_evaluated_key);
}

TEST_F(PageReaderTest, APageEndsWithTheItemThatCrossesAMegabyte) {
  create(table("large", "pk:S", "n:N"));
  for (int n = 0; n < 5; ++n)
    ASSERT_TRUE(
        store().put_item({.table_name = "large", .item = {{"pk", "p"}, {"n", n}, {"x", std::string(400'000, 'x')}}}));
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.table_name = "large";
  request.projection = "n";
  const auto page = store().query(request);
  EXPECT_THAT(column(page, "n"), ElementsAre("0", "1", "2"));
  ASSERT_TRUE(page->last_evaluated_key);
  request.exclusive_start_key = page->last_evaluated_key;
  EXPECT_THAT(column(store().query(request), "n"), ElementsAre("3", "4"));
}

TEST_F(PageReaderTest, CountShowsNoItems) {
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.select = store::Select::count;
  const auto page = store().query(request);
  EXPECT_EQ(page->count, 5);
  EXPECT_THAT(page->items, IsEmpty());
}

class IndexReadTest : public PageReaderTest {
 protected:
  IndexReadTest() {
    put("things",
        R"({"pk":{"S":"i"},"sk":{"S":"1"},"color":{"S":"red"},"x":{"N":"2"},"name":{"S":"n1"},"z":{"S":"z"}})");
    put("things", R"({"pk":{"S":"i"},"sk":{"S":"2"},"color":{"S":"red"},"x":{"N":"1"},"z":{"S":"z"}})");
    put("things", R"({"pk":{"S":"j"},"sk":{"S":"3"},"color":{"S":"red"},"x":{"N":"1"},"z":{"S":"z"}})");
    put("things", R"({"pk":{"S":"i"},"sk":{"S":"4"},"color":{"S":"red"}})");
    put("things", R"({"pk":{"S":"i"},"sk":{"S":"5"},"color":{"S":"blue"},"x":{"N":"9"}})");
  }
  store::QueryRequest index_query(std::string index, std::string_view condition, std::string_view values) {
    store::QueryRequest request = query(condition, values);
    request.index_name = std::move(index);
    return request;
  }
};

TEST_F(IndexReadTest, AGlobalIndexHoldsOnlyItemsWithItsKeysAndWhatItProjects) {
  const auto page = store().query(index_query("by-color", "color = :c", R"({":c":{"S":"red"}})"));
  ASSERT_TRUE(page);
  ASSERT_EQ(page->items.size(), 3);
  EXPECT_THAT(column(page, "x"), ElementsAre("1", "1", "2"));
  EXPECT_EQ(item::to_json(page->items[2]),
            R"({"color":{"S":"red"},"name":{"S":"n1"},"pk":{"S":"i"},"sk":{"S":"1"},"x":{"N":"2"}})");
}

TEST_F(IndexReadTest, EqualIndexKeysCanBePagedThrough) {
  store::QueryRequest request =
      index_query("by-color", "color = :c AND x = :x", R"({":c":{"S":"red"},":x":{"N":"1"}})");
  request.limit = 1;
  std::set<std::string> seen;
  for (int pages = 0; pages < 2; ++pages) {
    const auto page = store().query(request);
    ASSERT_EQ(page->items.size(), 1);
    seen.insert(column(page, "sk")[0]);
    ASSERT_TRUE(page->last_evaluated_key);
    EXPECT_EQ(page->last_evaluated_key->size(), 4);
    request.exclusive_start_key = page->last_evaluated_key;
  }
  EXPECT_EQ(seen, (std::set<std::string>{"2", "3"}));
  EXPECT_THAT(store().query(request)->items, IsEmpty());
}

TEST_F(IndexReadTest, AnIndexFollowsItsItems) {
  store::UpdateItemRequest update;
  update.table_name = "things";
  update.key = json(R"({"pk":{"S":"i"},"sk":{"S":"1"}})");
  update.update = "SET color = :c REMOVE #n";
  update.placeholders = placeholders(R"({"#n":{"S":"name"}})", R"({":c":{"S":"blue"}})");
  ASSERT_EQ(outcome(store().update_item(update)), "ok");
  ASSERT_TRUE(store().delete_item({.table_name = "things", .key = json(R"({"pk":{"S":"j"},"sk":{"S":"3"}})")}));
  EXPECT_THAT(column(store().query(index_query("by-color", "color = :c", R"({":c":{"S":"red"}})")), "sk"),
              ElementsAre("2"));
  const auto blue = store().query(index_query("by-color", "color = :c", R"({":c":{"S":"blue"}})"));
  EXPECT_THAT(column(blue, "sk"), ElementsAre("1", "5"));
  EXPECT_THAT(column(blue, "name"), ElementsAre("-", "-"));
}

TEST_F(IndexReadTest, ALocalIndexFetchesWhatItLacks) {
  store::QueryRequest request = index_query("by-x", "pk = :p", R"({":p":{"S":"i"}})");
  EXPECT_THAT(column(store().query(request), "x"), ElementsAre("1", "2", "9"));
  EXPECT_THAT(column(store().query(request), "z"), ElementsAre("-", "-", "-"));
  request.select = store::Select::all_attributes;
  request.return_consumed_capacity = store::ReturnConsumedCapacity::indexes;
  const auto fetched = store().query(request);
  EXPECT_THAT(column(fetched, "z"), ElementsAre("z", "z", "-"));
  EXPECT_EQ(fetched->consumed_capacity->local_indexes.at("by-x"), 0.5);
  EXPECT_EQ(fetched->consumed_capacity->table, 1.5);
  EXPECT_EQ(fetched->consumed_capacity->total, 2);
  request.select.reset();
  request.projection = "z";
  EXPECT_THAT(column(store().query(request), "z"), ElementsAre("z", "z", "-"));
}

TEST_F(IndexReadTest, AGlobalIndexRefusesWhatItCannotGive) {
  store::QueryRequest request = index_query("by-color", "color = :c", R"({":c":{"S":"red"}})");
  request.projection = "z, pk, y";
  EXPECT_EQ(outcome(store().query(request)),
            "ValidationException: One or more parameter values were invalid: Global secondary index by-color does not "
            "project [z, y]");
  request.projection.reset();
  request.select = store::Select::all_attributes;
  EXPECT_EQ(outcome(store().query(request)),
            "ValidationException: One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not "
            "supported for global secondary index by-color because its projection type is not ALL");
  request.select.reset();
  request.consistent_read = true;
  EXPECT_EQ(outcome(store().query(request)),
            "ValidationException: Consistent reads are not supported on global secondary indexes");
  request.index_name = "nowhere";
  EXPECT_EQ(outcome(store().query(request)),
            "ValidationException: The table does not have the specified index: nowhere");
  EXPECT_EQ(store().query(request).error().rule, base::Rule::known_index) << "for callers that know what to do then";
}

struct BadQuery {
  const char* condition;
  const char* values;
  const char* message;
};
class BadQueryTest : public PageReaderTest, public testing::WithParamInterface<BadQuery> {};

TEST_P(BadQueryTest, IsRefusedWithItsRule) {
  EXPECT_EQ(outcome(store().query(query(GetParam().condition, GetParam().values))),
            std::string("ValidationException: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadQueryTest,
    testing::Values(
        BadQuery{"sk = :v", R"({":v":{"S":"a"}})", "Query condition missed key schema element: pk"},
        BadQuery{"pk = :v AND z = :v", R"({":v":{"S":"a"}})", "Query condition missed key schema element: sk"},
        BadQuery{"pk > :v", R"({":v":{"S":"a"}})", "Query key condition not supported"},
        BadQuery{"pk = :v", R"({":v":{"N":"1"}})",
                 "One or more parameter values were invalid: Condition parameter type does not match schema type"},
        BadQuery{"pk = :v AND sk = :v AND z = :v", R"({":v":{"S":"a"}})",
                 "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"},
        BadQuery{"pk = :v", R"({":v":{"S":""}})",
                 "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                 "empty string value. Key: pk"}));

TEST_F(PageReaderTest, AStartKeyMustLieWithinTheQuery) {
  store::QueryRequest request = query("pk = :p AND sk > :s", R"({":p":{"S":"p"},":s":{"S":"ab"}})");
  const auto with = [&](const char* key) {
    request.exclusive_start_key = json(key);
    return outcome(store().query(request));
  };
  EXPECT_EQ(with(R"({"pk":{"S":"p"},"sk":{"S":"b"}})"), "ok");
  EXPECT_EQ(with(R"({"pk":{"S":"p"},"sk":{"S":"bzzz"}})"), "ok") << "it need not exist";
  EXPECT_EQ(with(R"({"pk":{"S":"p"}})"), "ValidationException: The provided starting key is invalid");
  EXPECT_EQ(with(R"({"pk":{"S":"p"},"sk":{"N":"1"}})"), "ValidationException: The provided starting key is invalid");
  EXPECT_EQ(with(R"({"pk":{"S":"p"},"sk":{"S":"a"}})"),
            "ValidationException: The provided starting key does not match the range key predicate");
  request = query("pk = :p", R"({":p":{"S":"p"}})");
  EXPECT_EQ(with(R"({"pk":{"S":"q"},"sk":{"S":"b"}})"),
            "ValidationException: The provided starting key is outside query boundaries based on provided conditions");
}

TEST_F(PageReaderTest, SelectAndProjectionMustAgree) {
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  const auto with = [&](std::optional<store::Select> select, std::optional<store::ProjectionExpression> projection) {
    request.select = select;
    request.projection = std::move(projection);
    return outcome(store().query(request));
  };
  using store::Select;
  EXPECT_EQ(with(Select::specific_attributes, {}),
            "ValidationException: 1 validation error detected: Must specify the AttributesToGet or "
            "ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  EXPECT_EQ(with(Select::count, "sk"),
            "ValidationException: Cannot specify the ProjectionExpression when choosing to get only the Count");
  EXPECT_EQ(with(Select::all_attributes, "sk"),
            "ValidationException: Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES");
  EXPECT_EQ(with(Select::all_projected_attributes, {}),
            "ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  EXPECT_EQ(with(Select::specific_attributes, "sk"), "ok");
}

TEST_F(PageReaderTest, AFilterMayNotNameTheKey) {
  store::QueryRequest request = query("pk = :p", R"({":p":{"S":"p"}})");
  request.filter = "sk = :p";
  EXPECT_EQ(outcome(store().query(request)),
            "ValidationException: Filter Expression can only contain non-primary key attributes: Primary key "
            "attribute: sk");
}

TEST_F(PageReaderTest, ScanSeesEverythingOnceInPages) {
  store::ScanRequest request;
  request.table_name = "things";
  request.limit = 1;
  std::vector<std::string> seen;
  do {
    const auto page = store().scan(request);
    ASSERT_TRUE(page);
    for (const item::Item& item : page->items) seen.push_back(item::to_json(item));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  EXPECT_EQ(seen.size(), 6);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 6);
}

TEST_F(PageReaderTest, SegmentsShareTheTable) {
  for (int i = 0; i < 100; ++i) put("things", R"({"pk":{"S":"k)" + std::to_string(i) + R"("},"sk":{"S":"s"}})");
  for (const int total : {1, 2, 3, 7, 1000}) {
    std::set<std::string> seen;
    int count = 0;
    for (int segment = 0; segment < total; ++segment) {
      store::ScanRequest request;
      request.table_name = "things";
      request.segment = segment;
      request.total_segments = total;
      const auto page = store().scan(request);
      ASSERT_TRUE(page) << outcome(page);
      count += page->count;
      for (const item::Item& item : page->items) seen.insert(item::to_json(item));
    }
    EXPECT_EQ(count, 106) << total;
    EXPECT_EQ(seen.size(), 106) << total;
  }
}

TEST_F(PageReaderTest, SegmentsMustMakeSense) {
  const auto with = [&](std::optional<int> segment, std::optional<int> total) {
    store::ScanRequest request;
    request.table_name = "things";
    request.segment = segment;
    request.total_segments = total;
    return outcome(store().scan(request));
  };
  EXPECT_EQ(with(0, {}),
            "ValidationException: The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present");
  EXPECT_EQ(with({}, 2),
            "ValidationException: The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present");
  EXPECT_EQ(with(5, 5),
            "ValidationException: The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 5 is not less than TotalSegments: 5");
}

TEST_F(PageReaderTest, AScanRestartsOnlyInItsSegment) {
  store::ScanRequest request;
  request.table_name = "things";
  request.segment = 0;
  request.total_segments = 4;
  request.exclusive_start_key = json(R"({"pk":{"S":"p"},"sk":{"S":"b"}})");
  int accepted = 0;
  for (request.segment = 0; *request.segment < 4; ++*request.segment) {
    const auto page = store().scan(request);
    if (page) {
      ++accepted;
      continue;
    }
    EXPECT_EQ(outcome(page),
              "ValidationException: The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
              "ExclusiveStartKey with correct Segment. TotalSegments: 4 Segment: " +
                  std::to_string(*request.segment));
  }
  EXPECT_EQ(accepted, 1);
}

TEST_F(IndexReadTest, AnIndexCanBeScanned) {
  store::ScanRequest request;
  request.table_name = "things";
  request.index_name = "by-color";
  request.filter = "x < :x";
  request.placeholders = placeholders({}, R"({":x":{"N":"9"}})");
  const auto page = store().scan(request);
  EXPECT_EQ(page->scanned_count, 4);
  EXPECT_EQ(page->count, 3);
}

TEST_F(PageReaderTest, AnIndexMayHaveSeveralHashAndRangeAttributes) {
  store::CreateTableRequest request = table("multi", "id:S");
  add_global_index(request, "by-month", "tenant:S", {}, store::ProjectionType::all);
  request.attribute_definitions.push_back({"region", item::Type::string});
  request.attribute_definitions.push_back({"year", item::Type::number});
  request.attribute_definitions.push_back({"month", item::Type::number});
  (*request.global_indexes)[0].key_schema = {{"tenant", store::KeyRole::hash},
                                             {"region", store::KeyRole::hash},
                                             {"year", store::KeyRole::range},
                                             {"month", store::KeyRole::range}};
  create(request);
  int id = 0;
  for (const int year : {2025, 2026})
    for (const int month : {1, 2, 10})
      for (const char* region : {"eu", "us"})
        ASSERT_TRUE(store().put_item({.table_name = "multi",
                                      .item = {{"id", "i" + std::to_string(id++)},
                                               {"tenant", "t"},
                                               {"region", region},
                                               {"year", year},
                                               {"month", month}}}));
  store::QueryRequest find = query("tenant = :t AND #r = :r AND #y = :y AND #m > :m",
                                   R"({":t":{"S":"t"},":r":{"S":"eu"},":y":{"N":"2026"},":m":{"N":"1"}})");
  find.placeholders.names = expr::Names{{"#r", "region"}, {"#y", "year"}, {"#m", "month"}};
  find.table_name = "multi";
  find.index_name = "by-month";
  EXPECT_THAT(column(store().query(find), "month"), ElementsAre("2", "10"));
  store::QueryRequest gap =
      query("tenant = :t AND #r = :r AND #m = :m", R"({":t":{"S":"t"},":r":{"S":"eu"},":m":{"N":"1"}})");
  gap.placeholders.names = expr::Names{{"#r", "region"}, {"#m", "month"}};
  gap.table_name = "multi";
  gap.index_name = "by-month";
  EXPECT_EQ(outcome(store().query(gap)),
            "ValidationException: RANGE key attributes year must have equality conditions specified in the query "
            "because a condition is present on key attribute month");
}

}  // namespace
}  // namespace postino::engine
