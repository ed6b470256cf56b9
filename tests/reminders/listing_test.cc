// Lists in pages, over one or several partitions.
#include "reminders/listing.h"

#include <functional>

#include "base/random.h"
#include "customers_environment.h"
#include "drafting.h"
#include "item/attribute_text.h"
#include "reminders/audit.h"
#include "reminders/history.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListingPages : public ::testing::Test {
 protected:
  void put(const std::string& partition, const std::string& sort, const std::string& name) {
    store_.put({{"PK", "P#" + name}, {"SK", "S"}, {"GSI1PK", partition}, {"GSI1SK", sort}});
  }
  std::vector<std::string> names(const Listing& listing, int limit) {
    std::vector<std::string> names;
    const auto read = [&](const PageRequest& page) { return list_items(store_.records(), listing, page); };
    for (const item::Item& item : all_pages<item::Item>(read, limit))
      names.push_back(item::attribute_text(item, "PK").substr(2));
    return names;
  }

  RemindersStore store_;
};

template <class T>
OrRefusal<std::string> cursor_of(const OrRefusal<Page<T>>& page) {
  if (!page) return base::propagate(page.error());
  return page->cursor;
}

Listing in_index(std::vector<std::string> partitions) {
  Listing listing;
  listing.name = "test";
  listing.partitions = std::move(partitions);
  listing.in_index = true;
  listing.newest_first = true;
  return listing;
}

TEST_F(ListingPages, SeveralPartitionsAreOneList) {
  put("A", "2", "a2");
  put("A", "5", "a5");
  put("B", "1", "b1");
  put("B", "3", "b3");
  put("C", "9", "c9");
  for (const int limit : {1, 2, 3, 200}) {
    EXPECT_THAT(names(in_index({"A", "B", "none"}), limit), ElementsAre("a5", "b3", "a2", "b1")) << limit;
    Listing forward = in_index({"A", "B"});
    forward.newest_first = false;
    EXPECT_THAT(names(forward, limit), ElementsAre("b1", "a2", "b3", "a5")) << limit;
  }
  EXPECT_THAT(names(in_index({}), 10), IsEmpty());
  EXPECT_THAT(names(in_index({"none"}), 10), IsEmpty());
}

// Of every list that a tenant has.
TEST(ListCursors, AreRefusedToOtherTenants) {
  CustomersEnvironment store;
  const auto acting = [](const std::string& tenant) {
    return Actor{.tenant = tenant, .name = "ann", .key = {}, .from = {}};
  };
  for (const std::string tenant : {"acme", "other"})
    for (const std::string id : {"c1", "c2"}) {
      ASSERT_TRUE(succeeded(store.customers().put(test_customer(id), acting(tenant))));
      for (const std::string invoice : {"I1", "I2"})
        ASSERT_TRUE(
            succeeded(store.customers().put_invoice(test_invoice(invoice, "2025-12-01", "1.00", id), acting(tenant))));
      for (const int hours : {1, 2}) {
        item::Item sent = seed_sent(id, test_start - std::chrono::hours(hours), "first");
        sent.set("PK", "TENANT#" + tenant + "#CUSTOMER#" + id);
        sent.set("GSI1PK", "TENANT#" + tenant + "#STATUS#sent");
        store.put(std::move(sent));
      }
    }
  History history(store.records());
  const auto with_page = [](const PageRequest& page) {
    HistoryRequest request;
    request.page = page;
    return request;
  };
  const std::vector<std::function<OrRefusal<std::string>(const PageRequest&, const std::string&)>> lists = {
      [&](auto& page, auto& of) { return cursor_of(store.customers().list(page, of)); },
      [&](auto& page, auto& of) { return cursor_of(store.customers().all_overdue(page, of)); },
      [&](auto& page, auto& of) { return cursor_of(store.customers().invoices("c1", page, of)); },
      [&](auto& page, auto& of) { return cursor_of(store.customers().all_invoices(page, of)); },
      [&](auto& page, auto& of) { return cursor_of(history.sent(with_page(page), false, of)); },
      [&](auto& page, auto& of) { return cursor_of(history.of_customer("c1", with_page(page), of)); },
      [&](auto& page, auto& of) {
        return cursor_of(Audit(store.records()).list({"", "", page}, of));
      },
  };
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto first = lists[i]({.cursor = "", .limit = 1}, "acme");
    ASSERT_TRUE(succeeded(first)) << i;
    ASSERT_NE(*first, "") << i;
    EXPECT_TRUE(succeeded(lists[i]({.cursor = *first, .limit = 1}, "acme"))) << i;
    for (const std::string tenant : {"other", ""})
      if (i != 2 || tenant == "other")
        EXPECT_THAT(faulty_fields(lists[i]({.cursor = *first, .limit = 1}, tenant)), ElementsAre("cursor")) << i;
  }
}

TEST_F(ListingPages, BoundsBelongToTheList) {
  for (int i = 1; i <= 5; ++i) put("A", std::to_string(i), std::to_string(i));
  Listing listing = in_index({"A"});
  listing.from = "2";
  EXPECT_THAT(names(listing, 2), ElementsAre("5", "4", "3", "2"));
  listing.to = "4";
  EXPECT_THAT(names(listing, 2), ElementsAre("4", "3", "2"));
  listing.from = "";
  EXPECT_THAT(names(listing, 2), ElementsAre("4", "3", "2", "1"));
  listing.from = "5";
  EXPECT_THAT(names(listing, 2), IsEmpty());
}

TEST_F(ListingPages, OfTheTableItself) {
  for (const std::string sort : {"DRAFS", "DRAFT#1", "DRAFT#2", "DRAFT#é", "DRAFU"})
    store_.put({{"PK", "P#1"}, {"SK", sort}});
  Listing listing;
  listing.name = "test";
  listing.partitions = {"P#1"};
  listing.begin_with("DRAFT#");
  std::vector<std::string> sorts;
  const auto read = [&](const PageRequest& page) { return list_items(store_.records(), listing, page); };
  for (const item::Item& item : all_pages<item::Item>(read, 1)) sorts.push_back(item::attribute_text(item, "SK"));
  EXPECT_THAT(sorts, ElementsAre("DRAFT#1", "DRAFT#2", "DRAFT#é"));
}

// Sort keys that many share, entries that are left out, and pages of every size: each entry comes once, in order.
TEST_F(ListingPages, OfAnySizeHaveEachEntryOnce) {
  base::SeededRandom random(15);
  std::vector<std::string> partitions;
  std::vector<std::pair<std::string, std::string>> all;
  for (int p = 0; p < 5; ++p) partitions.push_back("A#" + std::to_string(p));
  for (int i = 0; i < 300; ++i) {
    const std::string sort = std::to_string(100 + random.next() % 20);
    const std::string name = std::to_string(1'000 + i);
    put(partitions[random.next() % partitions.size()], sort, name);
    if (i % 3 != 0) all.emplace_back(sort, name);
  }
  std::ranges::sort(all);
  for (const bool newest_first : {true, false})
    for (const int limit : {1, 2, 7, 50, 200}) {
      Listing listing = in_index(partitions);
      listing.newest_first = newest_first;
      listing.shows = [](const item::Item& item) {
        return std::stoi(item::attribute_text(item, "PK").substr(2)) % 3 != 1'000 % 3;
      };
      std::vector<std::pair<std::string, std::string>> listed;
      const auto read = [&](const PageRequest& page) { return list_items(store_.records(), listing, page); };
      for (const item::Item& item : all_pages<item::Item>(read, limit))
        listed.emplace_back(item::attribute_text(item, "GSI1SK"), item::attribute_text(item, "PK").substr(2));
      EXPECT_TRUE(newest_first ? std::ranges::is_sorted(listed, std::ranges::greater(),
                                                        &std::pair<std::string, std::string>::first)
                               : std::ranges::is_sorted(listed, {}, &std::pair<std::string, std::string>::first));
      std::ranges::sort(listed);
      EXPECT_EQ(listed, all) << limit;
    }
}

TEST_F(ListingPages, WhatComesMeanwhileNeitherRepeatsNorHidesOthers) {
  for (int i = 1; i <= 4; ++i) put("A", std::to_string(i), std::to_string(i));
  const Listing listing = in_index({"A"});
  const auto first = list_items(store_.records(), listing, {.cursor = "", .limit = 2}).value();
  put("A", "9", "9");
  put("A", "2.5", "2.5");
  const auto second = list_items(store_.records(), listing, {.cursor = first.cursor, .limit = 10}).value();
  ASSERT_EQ(second.entries.size(), 3U);
  EXPECT_EQ(item::attribute_text(second.entries[0], "GSI1SK"), "2.5");
  EXPECT_EQ(item::attribute_text(second.entries[2], "GSI1SK"), "1");
  EXPECT_EQ(second.cursor, "");
}

TEST_F(ListingPages, RefuseCursorsOfOtherListsAndLimitsThatAreNone) {
  for (int i = 1; i <= 4; ++i) put("A", std::to_string(i), std::to_string(i));
  const Listing listing = in_index({"A"});
  const auto page = list_items(store_.records(), listing, {.cursor = "", .limit = 2});
  ASSERT_TRUE(succeeded(page));
  Listing other = listing;
  other.name = "other";
  const auto fields = [&](const Listing& list, const PageRequest& request) {
    return faulty_fields(list_items(store_.records(), list, request));
  };
  EXPECT_THAT(fields(other, {page->cursor, 2}), ElementsAre("cursor"));
  std::string changed = page->cursor;
  changed.back() = changed.back() == 'A' ? 'B' : 'A';
  for (const std::string& cursor : {changed, std::string("x"), std::string("12345678"), std::string("12345678!")})
    EXPECT_THAT(fields(listing, {cursor, 2}), ElementsAre("cursor")) << cursor;
  for (const int limit : {-1, 0, 201}) EXPECT_THAT(fields(listing, {"", limit}), ElementsAre("limit"));
  for (const char letter : page->cursor)
    EXPECT_TRUE((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '_')
        << letter;
}

// A list with few entries among many that are left out is read in calls of bounded cost.
TEST_F(ListingPages, ReadABoundedNumberOfItems) {
  constexpr int count = 5'300;
  for (int i = 0; i < count; ++i) put("A", std::to_string(10'000 + i), std::to_string(i));
  Listing listing = in_index({"A"});
  int looked_at = 0;
  listing.shows = [&](const item::Item& item) {
    ++looked_at;
    return item::attribute_text(item, "PK") == "P#0";
  };
  const auto first = list_items(store_.records(), listing, {.cursor = "", .limit = 200}).value();
  EXPECT_THAT(first.entries, IsEmpty());
  EXPECT_NE(first.cursor, "");
  EXPECT_LT(looked_at, count);
  EXPECT_THAT(names(listing, 200), ElementsAre("0"));
}

TEST(TablesOfReminders, GetTheIndexBackThatAnotherProgramRemoved) {
  RemindersStore store;
  store::UpdateTableRequest removal;
  removal.table_name = "EmailTrackingTable";
  removal.global_index_updates.emplace_back(store::DeleteGlobalIndex{std::string(status_index)});
  ASSERT_TRUE(store.engine().update_table(removal));
  ASSERT_TRUE(
      base::eventually([&] { return store.engine().describe_table("EmailTrackingTable")->global_indexes.empty(); }));
  EXPECT_TRUE(store.records().prepare());
  EXPECT_EQ(store.engine().describe_table("EmailTrackingTable")->global_indexes.at(0).name, status_index);
}

}  // namespace
}  // namespace postino::reminders
