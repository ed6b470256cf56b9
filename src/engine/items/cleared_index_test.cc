// Reading an index from which much was removed.
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "base/many_threads_testing.h"
#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

using store::ReadAllowance;
using testing::ElementsAre;
using testing::IsEmpty;

// The index lists the things of a shelf by the time that they were put there.
class ClearedIndexTest : public EngineTest {
 protected:
  ClearedIndexTest() {
    store::CreateTableRequest request = table("things", "id:N");
    add_global_index(request, "by-time", "shelf:S", "time:N", store::ProjectionType::keys_only);
    create(request);
  }

  static item::Key key(int number) {
    item::Key key;
    key.set("id", static_cast<std::int64_t>(number));
    return key;
  }
  void put(int number) {
    item::Item item = key(number);
    item.set("shelf", "s");
    item.set("time", static_cast<std::int64_t>(number));
    ASSERT_EQ(outcome(store().put_item({.table_name = "things", .item = std::move(item)})), "ok");
  }
  void remove(int number) { ASSERT_EQ(outcome(store().delete_item({"things", key(number)})), "ok"); }
  void put_and_remove(int first, int count) {
    for (int i = first; i < first + count; ++i) put(i);
    for (int i = first; i < first + count; ++i) remove(i);
  }

  std::vector<int> read(bool forward, std::optional<int> limit = std::nullopt, ReadAllowance* allowance = nullptr) {
    store::QueryRequest request;
    request.table_name = "things";
    request.index_name = "by-time";
    request.key_condition = "shelf = :s";
    request.placeholders.values = item::Map{{":s", "s"}};
    request.forward = forward;
    request.limit = limit;
    request.allowance = allowance;
    const auto page = store().query(request);
    std::vector<int> numbers;
    if (page)
      for (const item::Item& item : page->items)
        numbers.push_back(static_cast<int>(*item.find("id")->as<item::Number>().to_int64()));
    return numbers;
  }
  // Within so few keys of RocksDB that it cannot step over what was removed.
  bool reads_cheaply(bool forward) {
    ReadAllowance few(100, 100'000);
    (void)read(forward, 10, &few);
    return !few.exhausted();
  }
};

TEST_F(ClearedIndexTest, IsSteppedThroughOnce) {
  for (const bool forward : {true, false}) {
    put_and_remove(forward ? 0 : 1'000, 300);
    EXPECT_FALSE(reads_cheaply(forward));
    EXPECT_THAT(read(forward), IsEmpty());
    EXPECT_TRUE(reads_cheaply(forward));
    EXPECT_TRUE(reads_cheaply(!forward));
  }
}

TEST_F(ClearedIndexTest, WhatStaysAndWhatComesIsFound) {
  put(0);
  put_and_remove(1, 300);
  put(500);
  put_and_remove(501, 300);
  EXPECT_THAT(read(false), ElementsAre(500, 0));
  EXPECT_TRUE(reads_cheaply(false));
  EXPECT_THAT(read(false), ElementsAre(500, 0));
  EXPECT_THAT(read(true), ElementsAre(0, 500));
  put(900);  // at the end, as ever
  put(150);  // and where nothing was expected any more
  EXPECT_THAT(read(false), ElementsAre(900, 500, 150, 0));
  EXPECT_THAT(read(true), ElementsAre(0, 150, 500, 900));
  EXPECT_THAT(read(true, 2), ElementsAre(0, 150));
  EXPECT_THAT(read(false, 3), ElementsAre(900, 500, 150));
  remove(900);
  remove(150);
  EXPECT_THAT(read(false), ElementsAre(500, 0));
}

TEST_F(ClearedIndexTest, AListingThatGoesOnCostsOnlyWhatIsNew) {
  put(0);
  for (int round = 0; round < 3; ++round) {
    put_and_remove(1'000 * (round + 1), 300);
    EXPECT_FALSE(reads_cheaply(false));
    EXPECT_THAT(read(false), ElementsAre(0));
    EXPECT_TRUE(reads_cheaply(false));
    put_and_remove(1'000 * (round + 1) + 500, 20);
    EXPECT_TRUE(reads_cheaply(false)) << "a few new ones hide none of what is known";
  }
}

TEST_F(ClearedIndexTest, PagesGoOnAcrossWhatIsCleared) {
  put(0);
  put(1);
  put_and_remove(2, 300);
  put(500);
  put(501);
  ASSERT_THAT(read(false), ElementsAre(501, 500, 1, 0));
  std::vector<int> numbers;
  store::QueryRequest request;
  request.table_name = "things";
  request.index_name = "by-time";
  request.key_condition = "shelf = :s";
  request.placeholders.values = item::Map{{":s", "s"}};
  request.forward = false;
  request.limit = 1;
  do {
    const auto page = store().query(request);
    ASSERT_EQ(outcome(page), "ok");
    for (const item::Item& item : page->items)
      numbers.push_back(static_cast<int>(*item.find("id")->as<item::Number>().to_int64()));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  EXPECT_THAT(numbers, ElementsAre(501, 500, 1, 0));
}

class ClearedIndexConcurrentTest : public ClearedIndexTest {};

// A writer that was answered finds what it wrote, however much is removed around it.
TEST_F(ClearedIndexConcurrentTest, NothingThatWasPutIsMissed) {
  constexpr int writers = 3;
  const int rounds = base::volume(2'000);
  std::mutex mutex;
  std::set<int> kept;
  std::atomic<int> writing = writers;
  base::run_threads(writers + 2, [&](int thread) {
    if (thread < writers) {
      for (int i = 0; i < rounds; ++i) {
        // Most are at the end; some go back to where all is removed.
        const int number = (i % 50 == 49 ? i / 2 : i) * writers + thread;
        put(number);
        if (i % 50 != 49) {
          remove(number);
          continue;
        }
        const std::lock_guard lock(mutex);
        kept.insert(number);
      }
      --writing;
      return;
    }
    while (writing > 0) {
      std::set<int> expected;
      {
        const std::lock_guard lock(mutex);
        expected = kept;
      }
      const std::vector<int> found = read(thread == writers);
      const std::set<int> numbers(found.begin(), found.end());
      for (const int number : expected) ASSERT_TRUE(numbers.contains(number)) << number;
    }
  });
  const std::vector<int> found = read(false);
  EXPECT_EQ(std::set<int>(found.begin(), found.end()), kept);
}

}  // namespace
}  // namespace postino::engine
