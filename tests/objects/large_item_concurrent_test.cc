// Writers, readers and cleaners of the same large items at once.
#include <atomic>

#include "base/many_threads_testing.h"
#include "large_item_environment.h"

namespace postino::objects {
namespace {

TEST(LargeItemsConcurrentTest, ReadersSeeOneVersionAndNothingIsLost) {
  LargeItemEnvironment store;
  const int rounds = base::volume(200);
  constexpr int writers = 2, readers = 2;
  std::atomic<int> writing = writers;
  base::run_threads(writers + readers + 1, [&](int number) {
    if (number < writers) {
      for (int i = 1; i <= rounds; ++i) {
        const std::string id = std::to_string(i % 2);
        EXPECT_TRUE(succeeded(
            store.large().put_item(put_of(i % 5 == 0 ? small_ticket(id, i) : large_ticket(id, writers * i + number)))));
      }
      --writing;
      return;
    }
    if (number == writers) {
      ObjectCleaner cleaner = store.make_cleaner();
      while (writing > 0) EXPECT_TRUE(cleaner.follow_once(base::Milliseconds(1)));
      while (cleaner.follow_once(base::Milliseconds(0)).value_or(0) > 0) {
      }
      return;
    }
    while (writing > 0)
      for (const std::string id : {"0", "1"}) {
        const auto item = store.get(ticket_key(id));
        if (!item) continue;
        const auto version = static_cast<int>(item->find("version")->as<item::Number>().to_int64().value());
        EXPECT_TRUE(*item == large_ticket(id, version) || *item == small_ticket(id, version));
      }
  });
  EXPECT_EQ(store.kept(), store.referred());
}

}  // namespace
}  // namespace postino::objects
