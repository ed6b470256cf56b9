// Everything at once: random writes of all kinds, items that expire, indexes that come and go, churn_readers and a
// follower of the stream. Afterwards indexes, counts and streams must follow from the items.
#include "concurrent_store.h"
#include "contents_check.h"
#include "operation_generator.h"
#include "request_builder.h"
#include "request_text.h"

namespace postino::model {
namespace {

constexpr int churn_writers = 6;
constexpr int churn_readers = 2;
constexpr base::Milliseconds time_of_a_write(20);  // so that some items expire before the last write, and some never

class ConcurrentChurnTest : public ConcurrentStore {
 protected:
  ConcurrentChurnTest() : definitions_(clock()) {
    Choice choice(20'260'301);
    OperationGenerator generator(choice, Vocabulary(), definitions_);
    for (const char* name : {"first", "second"}) {
      ModelTable table = generator.table(name);
      create(table);
      definitions_.tables[name] = table;
      EXPECT_TRUE(store().update_time_to_live(name, {"exp", true}));
    }
  }

  void write(OperationGenerator& generator, RequestBuilder& builder, Choice& choice) {
    switch (choice.between(0, 5)) {
      case 0:
        send(store(), choice, builder.batch(generator.batch_write())).has_value();
        return;
      case 1:
        send(store(), choice, builder.transaction(TransactionOperation{generator.transact_write(), {}, {}}))
            .has_value();
        return;
      default:
        break;
    }
    const WriteOperation operation = generator.write();
    store::Answer<store::WriteItemResponse> answer;
    if (operation.kind == WriteOperation::Kind::put)
      answer = send(store(), choice, builder.put(operation));
    else if (operation.kind == WriteOperation::Kind::update)
      answer = send(store(), choice, builder.update(operation));
    else
      answer = send(store(), choice, builder.remove(operation));
    EXPECT_TRUE(answer || answer.error().type != store::ErrorType::internal_server_error) << text_of(answer.error());
  }

  // Pages are read from one moment, so an item cannot be in them twice.
  void read(OperationGenerator& generator, RequestBuilder& builder) {
    PageOperation operation = generator.page();
    const ModelTable& table = definitions_.tables.at(operation.table);
    operation.limit.reset();
    const auto page =
        operation.key ? store().query(builder.query(operation, table)) : store().scan(builder.scan(operation));
    if (!page) {
      EXPECT_EQ(page.error().type, store::ErrorType::validation) << text_of(page.error());
      return;
    }
    if (operation.projection) return;
    std::map<KeyOfItem, int, KeyLess> seen;
    for (const item::Item& item : page->items) EXPECT_EQ(++seen[table.key_values(item)], 1) << text_of(page->items);
  }

  ModelStore definitions_;
};

TEST_P(ConcurrentChurnTest, LeavesNothingBehind) {
  const int operations = scaled(GetParam().durability == engine::Durability::synced ? 300 : 1'200);
  std::atomic<int> busy_writers = churn_writers;
  auto subscription = store().subscribe("first", std::nullopt);
  ASSERT_TRUE(subscription) << text_of(subscription.error());
  std::vector<store::StreamRecord> followed;
  std::thread follower([&] {
    while (true) {
      auto records = (*subscription)->next(100, std::chrono::hours(1));
      ASSERT_TRUE(records) << text_of(records.error());
      if (records->empty()) return;
      for (store::StreamRecord& record : *records) followed.push_back(std::move(record));
    }
  });
  run(churn_writers + churn_readers, [&](int thread, Choice& choice) {
    OperationGenerator generator(choice, Vocabulary(), definitions_);
    RequestBuilder builder(choice);
    if (thread < churn_writers) {
      for (int i = 0; i < operations; ++i) {
        write(generator, builder, choice);
        clock()->advance(time_of_a_write);
      }
      --busy_writers;
    } else {
      while (busy_writers > 0) read(generator, builder);
    }
  });
  (*subscription)->close();
  follower.join();
  // What the follower had not seen when it was stopped is still there for it.
  auto rest = store().subscribe("first", (*subscription)->place());
  ASSERT_TRUE(rest) << text_of(rest.error());
  subscription->reset();
  while (true) {
    auto records = (*rest)->next(100, base::Milliseconds(0));
    ASSERT_TRUE(records) << text_of(records.error());
    if (records->empty()) break;
    for (store::StreamRecord& record : *records) followed.push_back(std::move(record));
  }
  rest->reset();
  if (!GetParam().background) {
    const auto table = read_table(store(), definitions_.tables.at("first"));
    ASSERT_TRUE(table) << text_of(table.error());
    EXPECT_EQ(difference_after_replay(*table, followed), "");
  }
  check_contents();
}

INSTANTIATE_TEST_SUITE_P(Busy, ConcurrentChurnTest,
                         testing::Values(Business{"Plain"}, Business{"Maintained", true},
                                         Business{"NewIndexes", false, true},
                                         Business{"Synced", true, true, engine::Durability::synced}),
                         [](const auto& business) { return business.param.name; });

}  // namespace
}  // namespace postino::model
