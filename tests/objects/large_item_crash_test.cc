// Writers that end at any of their steps: an item and its object belong together, and what is left over is removed.
#include <random>

#include "base/effort_testing.h"
#include "large_item_environment.h"

namespace postino::objects {
namespace {

using testing::IsEmpty;
using Fault = MemoryObjects::Fault;

// A store that fails, or ends, at its next write.
class EndingStore final : public store::ForwardingStore {
 public:
  EndingStore(store::Store& inner, Fault fault) : ForwardingStore(inner), fault_(fault) {}
  using ForwardingStore::put_item;
  using ForwardingStore::transact_write_items;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner().put_item(request); });
  }
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    return write<store::TransactWriteItemsResponse>([&] { return inner().transact_write_items(request); });
  }

 private:
  template <class Response, class Call>
  store::Answer<Response> write(const Call& call) const {
    if (fault_ == Fault::none) return call();
    if (fault_ == Fault::refused) return store::refuse(store::ErrorType::service_unavailable, "not now");
    if (fault_ != Fault::ended_before) (void)call();
    return store::refuse(store::ErrorType::internal_server_error, "the disk failed");
  }

  const Fault fault_;
};

constexpr Fault all_faults[] = {Fault::refused, Fault::unknown, Fault::ended_before, Fault::ended_after};

// Everything that is referred to can be read, and is of one version.
void expect_whole(LargeItemEnvironment& store) {
  for (const item::Item& raw : store.scan(tickets_table)) {
    const item::Item item = store.get(store.table().key_of(raw)).value_or(item::Item());
    ASSERT_TRUE(item.contains("version"));
    const auto version = static_cast<int>(item.find("version")->as<item::Number>().to_int64().value());
    const std::string id = item.find("PK")->as<std::string>().substr(7);
    EXPECT_TRUE(item == large_ticket(id, version) || item == small_ticket(id, version)) << id;
  }
}

// Another process cleans up, a while later: nothing is left over, and nothing is missing.
void expect_clean(LargeItemEnvironment& store) {
  store.time().advance(std::chrono::hours(25));
  ObjectCleaner cleaner = store.make_cleaner();
  while (true) {
    const auto seen = cleaner.sweep_some(3);
    ASSERT_TRUE(seen) << seen.error().message;
    if (*seen < 3) break;
  }
  EXPECT_EQ(store.kept(), store.referred());
  expect_whole(store);
}

TEST(LargeItemThatEnds, AtTheObject) {
  LargeItemEnvironment store;
  for (const Fault fault : all_faults)
    for (int number = 1; number <= 6; ++number) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at change " + std::to_string(number));
      store.objects().fail_at(number, fault);
      store::TransactWriteItemsRequest request;
      for (const char* id : {"1", "2", "3"})
        request.actions.emplace_back(store::TransactPut{tickets_table, large_ticket(id, number), {}, {}, false});
      const auto written = store.large().transact_write_items(request);
      const bool was_hit = store.objects().has_failed();
      EXPECT_NE(written.has_value(), was_hit);
      store.objects().fail_at(0, Fault::none);
      expect_whole(store);
      if (!was_hit) break;
    }
  expect_clean(store);
}

TEST(LargeItemThatEnds, AtTheItem) {
  LargeItemEnvironment store;
  int version = 0;
  for (const Fault fault : all_faults) {
    ++version;
    EndingStore ending(store.engine(), fault);
    LargeItemStore large = store.make_large(ending);
    EXPECT_FALSE(large.put_item(put_of(large_ticket("1", version))));
    const auto is_there = store.get(ticket_key("1")) == large_ticket("1", version);
    EXPECT_EQ(is_there, fault == Fault::unknown || fault == Fault::ended_after);
    expect_whole(store);
  }
  expect_clean(store);
}

TEST(LargeItemThatEnds, WhatIsYoungIsNotRemoved) {
  LargeItemEnvironment store;
  EndingStore ending(store.engine(), Fault::ended_before);
  LargeItemStore large = store.make_large(ending);
  EXPECT_FALSE(large.put_item(put_of(large_ticket("1", 1))));
  ObjectCleaner cleaner = store.make_cleaner();
  store.time().advance(std::chrono::hours(23));
  EXPECT_EQ(cleaner.sweep_some(10).value_or(-1), 1);
  EXPECT_EQ(store.kept().size(), 1U) << "its item may still come";
  store.time().advance(std::chrono::hours(7));
  EXPECT_EQ(cleaner.sweep_some(10).value_or(-1), 1);
  EXPECT_THAT(store.kept(), IsEmpty());
}

// Random writes that end at random steps, with cleaners that do the same.
TEST(LargeItemThatEnds, AnywhereAgainAndAgain) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::SeededRandom random(seed);
  LargeItemEnvironment store;
  const auto any = [&](int count) { return static_cast<int>(random.next() % static_cast<std::uint64_t>(count)); };
  auto cleaner = std::make_unique<ObjectCleaner>(store.engine(), store.objects(), store.table(),
                                                 std::vector{large_items_kind()}, store.clock());
  const int rounds = 150 * base::test_effort();
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    if (any(3) == 0) store.objects().fail_at(1 + any(4), all_faults[any(4)]);
    EndingStore ending(store.engine(), any(4) == 0 ? all_faults[any(4)] : Fault::none);
    LargeItemStore large = store.make_large(ending);
    const std::string id = std::to_string(any(4));
    const int version = 1 + any(20);
    if (any(5) == 0) {
      store::DeleteItemRequest removal;
      removal.table_name = tickets_table;
      removal.key = ticket_key(id);
      (void)large.delete_item(removal);
    } else if (any(3) == 0) {
      store::TransactWriteItemsRequest request;
      for (int i = 0; i < 3; ++i)
        request.actions.emplace_back(store::TransactPut{
            tickets_table,
            any(2) == 0 ? large_ticket(std::to_string(i), version) : small_ticket(std::to_string(i), version),
            {},
            {},
            false});
      (void)large.transact_write_items(request);
    } else {
      (void)large.put_item(put_of(any(3) == 0 ? small_ticket(id, version) : large_ticket(id, version)));
    }
    if (any(2) == 0) (void)cleaner->follow_once(base::Milliseconds(0));
    if (any(4) == 0) (void)cleaner->sweep_some(5);
    store.objects().fail_at(0, Fault::none);
    expect_whole(store);
    if (any(10) == 0) store.time().advance(std::chrono::hours(any(10)));
    if (any(20) == 0)
      cleaner = std::make_unique<ObjectCleaner>(store.engine(), store.objects(), store.table(),
                                                std::vector{large_items_kind()}, store.clock());
  }
  expect_clean(store);
}

}  // namespace
}  // namespace postino::objects
