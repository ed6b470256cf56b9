// Lists in pages, over one or several ranges.
#include "store/merged_listing.h"

#include "base/random.h"
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using item::attribute_text;
using store::MergedListing;
using store::MergedPage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MergedLists : public ::testing::Test {
 protected:
  MergedLists() { (void)SupportOffice(store_); }

  void put(const std::string& partition, const std::string& sort, const std::string& name,
           const std::string& time = "") {
    item::Item item = {{"PK", "P#" + name}, {"SK", "S"}, {"GSI1PK", partition}, {"GSI1SK", sort}};
    if (!time.empty()) item.set("time", time);
    store_.put(item);
  }
  store::Answer<std::optional<MergedPage>> read(const MergedListing& listing, const std::string& cursor, int limit) {
    return store::read_merged(store_.engine(), retry_, listing, cursor, limit);
  }
  std::vector<std::string> names(const MergedListing& listing, int limit) {
    std::vector<std::string> names;
    std::string cursor;
    do {
      const auto page = read(listing, cursor, limit);
      EXPECT_TRUE(page) << page.error().message;
      if (!page || !*page) return {"no page"};
      EXPECT_LE((*page)->entries.size(), static_cast<std::size_t>(limit));
      for (const item::Item& item : (*page)->entries) names.push_back(attribute_text(item, "PK").substr(2));
      cursor = (*page)->cursor;
    } while (!cursor.empty());
    return names;
  }
  static MergedListing in_index(std::vector<store::ListedRange> ranges) {
    MergedListing listing;
    listing.name = "test";
    listing.table = table_name;
    listing.index = std::string(customer_index);
    listing.partition_key = "GSI1PK";
    listing.sort_key = "GSI1SK";
    listing.ranges = std::move(ranges);
    listing.newest_first = true;
    return listing;
  }

  SupportStore store_;
  const store::Retry retry_ = store_.retry();
};

TEST_F(MergedLists, SeveralPartitionsAreOneList) {
  put("A", "2", "a2");
  put("A", "5", "a5");
  put("B", "1", "b1");
  put("B", "3", "b3");
  put("C", "9", "c9");
  for (const int limit : {1, 2, 3, 200}) {
    EXPECT_THAT(names(in_index({{"A"}, {"B"}, {"none"}}), limit), ElementsAre("a5", "b3", "a2", "b1")) << limit;
    MergedListing forward = in_index({{"A"}, {"B"}});
    forward.newest_first = false;
    EXPECT_THAT(names(forward, limit), ElementsAre("b1", "a2", "b3", "a5")) << limit;
  }
  EXPECT_THAT(names(in_index({}), 10), IsEmpty());
  EXPECT_THAT(names(in_index({{"none"}}), 10), IsEmpty());
}

TEST_F(MergedLists, RangesOfOnePartitionAreInOrderOfWhatFollowsTheirPrefixes) {
  put("A", "NEW#3", "new3");
  put("A", "NEW#1", "new1");
  put("A", "OLD#2", "old2");
  put("A", "OLD#4", "old4");
  put("A", "SOLD#5", "sold5");
  for (const int limit : {1, 2, 10}) {
    EXPECT_THAT(names(in_index({{"A", "NEW#"}, {"A", "OLD#"}}), limit), ElementsAre("old4", "new3", "old2", "new1"));
    MergedListing bounded = in_index({{"A", "NEW#"}, {"A", "OLD#"}});
    bounded.from = "2";
    bounded.to = "3";
    EXPECT_THAT(names(bounded, limit), ElementsAre("new3", "old2"));
    bounded.newest_first = false;
    EXPECT_THAT(names(bounded, limit), ElementsAre("old2", "new3"));
  }
}

TEST_F(MergedLists, BoundsBelongToTheList) {
  for (int i = 1; i <= 5; ++i) put("A", std::to_string(i), std::to_string(i));
  MergedListing listing = in_index({{"A"}});
  listing.from = "2";
  EXPECT_THAT(names(listing, 2), ElementsAre("5", "4", "3", "2"));
  listing.to = "4";
  EXPECT_THAT(names(listing, 2), ElementsAre("4", "3", "2"));
  listing.from = "";
  EXPECT_THAT(names(listing, 2), ElementsAre("4", "3", "2", "1"));
  listing.from = "5";
  EXPECT_THAT(names(listing, 2), IsEmpty());
}

// Sort keys that many share, entries that are left out, and pages of every size: each entry comes once, in order.
TEST_F(MergedLists, OfAnySizeHaveEachEntryOnce) {
  base::SeededRandom random(15);
  std::vector<store::ListedRange> ranges;
  std::vector<std::pair<std::string, std::string>> all;
  for (int p = 0; p < 5; ++p) ranges.push_back({"A#" + std::to_string(p / 2), std::to_string(p) + "/"});
  for (int i = 0; i < 150; ++i) {
    const std::string sort = std::to_string(100 + random.next() % 50);
    const std::string name = std::to_string(1'000 + i);
    const store::ListedRange& range = ranges[random.next() % ranges.size()];
    put(range.partition, range.prefix + sort, name, std::to_string(10'000 + random.next() % 1'000) + name);
    if (i % 3 != 0) all.emplace_back(sort, name);
  }
  std::ranges::sort(all);
  for (const bool newest_first : {true, false})
    for (const bool is_ordered : {true, false})
      for (const int limit : {1, 7, 50, 200}) {
        MergedListing listing = in_index(ranges);
        listing.newest_first = newest_first;
        listing.shows = [](const item::Item& item) {
          return std::stoi(attribute_text(item, "PK").substr(2)) % 3 != 1'000 % 3;
        };
        if (is_ordered) {
          listing.group = [](std::string_view sort) { return std::string(sort.substr(0, 2)); };
          listing.order = [](const item::Item& item) { return attribute_text(item, "time"); };
        }
        std::vector<std::pair<std::string, std::string>> listed;
        std::vector<std::string> order;
        std::string cursor;
        do {
          const auto page = read(listing, cursor, limit).value().value();
          for (const item::Item& item : page.entries) {
            const std::string sort = attribute_text(item, "GSI1SK").substr(2);
            listed.emplace_back(sort, attribute_text(item, "PK").substr(2));
            order.push_back(is_ordered ? sort.substr(0, 2) + attribute_text(item, "time") : sort);
          }
          cursor = page.cursor;
        } while (!cursor.empty());
        EXPECT_TRUE(newest_first ? std::ranges::is_sorted(order, std::ranges::greater())
                                 : std::ranges::is_sorted(order))
            << limit;
        std::ranges::sort(listed);
        EXPECT_EQ(listed, all) << limit;
      }
}

// More than are sorted, and a group that grows while it is read.
TEST_F(MergedLists, LargeGroupsHaveEachEntryOnce) {
  const auto put_many = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      put("A", "day/" + std::to_string(100 + i), std::to_string(100 + i), std::to_string(2'000 - i));
  };
  put_many(0, 40);
  MergedListing listing = in_index({{"A"}});
  listing.group = [](std::string_view sort) { return std::string(sort.substr(0, 3)); };
  listing.order = [](const item::Item& item) { return attribute_text(item, "time"); };
  listing.most_sorted = 10;
  std::vector<std::string> by_key;
  for (int i = 139; i >= 100; --i) by_key.push_back(std::to_string(i));
  for (const int limit : {1, 7, 100}) EXPECT_EQ(names(listing, limit), by_key);
  listing.most_sorted = 50;
  std::vector<std::string> by_time(by_key.rbegin(), by_key.rend());
  for (const int limit : {1, 7, 100}) EXPECT_EQ(names(listing, limit), by_time);

  const MergedPage first = read(listing, "", 5).value().value();
  put_many(40, 60);
  std::string cursor = first.cursor;
  std::vector<std::string> rest;
  while (!cursor.empty()) {
    const MergedPage page = read(listing, cursor, 9).value().value();
    for (const item::Item& item : page.entries) rest.push_back(attribute_text(item, "PK").substr(2));
    cursor = page.cursor;
  }
  by_time.erase(by_time.begin(), by_time.begin() + 5);
  for (int i = 140; i < 160; ++i) by_time.push_back(std::to_string(i));
  EXPECT_EQ(rest, by_time);
}

// Keys of a large group may stand in another order than its entries.
TEST_F(MergedLists, LargeGroupsAreSortedWhereTheirKeysAreNot) {
  constexpr int count = 60;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(100 + i);
    put("A", "day/" + std::string(number.rbegin(), number.rend()), number, number);  // the last digit first
    put("A", "eve/" + number, "e" + number, number);
  }
  MergedListing listing = in_index({{"A"}});
  listing.group = [](std::string_view sort) { return std::string(sort.substr(0, 3)); };
  listing.order = [](const item::Item& item) { return attribute_text(item, "time"); };
  listing.most_sorted = 10;
  listing.most_read = 20;
  std::vector<std::string> asked;
  listing.is_disordered = [&](const std::string& group) -> store::Answer<bool> {
    asked.push_back(group);
    return group == "day";
  };
  std::vector<std::string> newest;
  for (const char* const begin : {"e", ""})
    for (int i = count - 1; i >= 0; --i) newest.push_back(begin + std::to_string(100 + i));
  for (const int limit : {1, 7, 500}) EXPECT_EQ(names(listing, limit), newest) << limit;
  EXPECT_THAT(asked, ::testing::Contains("eve"));
  asked.clear();
  ASSERT_EQ(read(listing, "", 500).value()->entries.size(), 2U * count) << "what was read to be sorted is given";
  EXPECT_THAT(asked, ElementsAre("eve", "day")) << "each is asked for once";
  // Up to a limit.
  for (const auto limit : {&MergedListing::most_disordered, &MergedListing::most_disordered_bytes}) {
    MergedListing small = listing;
    small.*limit = 40;
    const std::vector<std::string> found = names(small, 7);
    EXPECT_NE(found, newest);
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(newest));
  }
}

TEST_F(MergedLists, WhatComesMeanwhileNeitherRepeatsNorHidesOthers) {
  for (int i = 1; i <= 4; ++i) put("A", std::to_string(i), std::to_string(i));
  const MergedListing listing = in_index({{"A"}});
  const MergedPage first = read(listing, "", 2).value().value();
  put("A", "9", "9");
  put("A", "2.5", "2.5");
  const MergedPage second = read(listing, first.cursor, 10).value().value();
  ASSERT_EQ(second.entries.size(), 3U);
  EXPECT_EQ(attribute_text(second.entries[0], "GSI1SK"), "2.5");
  EXPECT_EQ(attribute_text(second.entries[2], "GSI1SK"), "1");
  EXPECT_EQ(second.cursor, "");
}

TEST_F(MergedLists, RefuseCursorsOfOtherLists) {
  for (int i = 1; i <= 4; ++i) put("A", std::to_string(i), std::to_string(i));
  const MergedListing listing = in_index({{"A"}});
  const std::string cursor = read(listing, "", 2).value()->cursor;
  MergedListing other = listing;
  other.name = "other";
  EXPECT_EQ(read(other, cursor, 2).value(), std::nullopt);
  std::string changed = cursor;
  changed.back() = changed.back() == 'A' ? 'B' : 'A';
  for (const std::string& wrong : {changed, std::string("x"), std::string("12345678"), std::string("12345678!")})
    EXPECT_EQ(read(listing, wrong, 2).value(), std::nullopt) << wrong;
  // The same name for another partition, as if a caller had computed the check.
  EXPECT_EQ(read(in_index({{"B"}}), cursor, 2).value(), std::nullopt);
}

// A list with few entries among many that are left out is read in calls of bounded cost.
TEST_F(MergedLists, ReadABoundedNumberOfItems) {
  constexpr int count = 700;
  for (int i = 0; i < count; ++i) put("A", std::to_string(10'000 + i), std::to_string(i));
  MergedListing listing = in_index({{"A"}});
  listing.most_read = 300;
  int looked_at = 0;
  listing.shows = [&](const item::Item& item) {
    ++looked_at;
    return attribute_text(item, "PK") == "P#0";
  };
  const MergedPage first = read(listing, "", 100).value().value();
  EXPECT_THAT(first.entries, IsEmpty());
  EXPECT_NE(first.cursor, "");
  EXPECT_LT(looked_at, count);
  EXPECT_THAT(names(listing, 100), ElementsAre("0"));
}

}  // namespace
}  // namespace postino::support
