// Many counting_threads increment few items: nothing that was acknowledged may be lost, and nothing may count twice.
#include <algorithm>
#include <array>

#include "concurrent_store.h"
#include "request_text.h"

namespace postino::model {
namespace {

constexpr int counting_threads = 8;
constexpr int counters = 3;

class ConcurrentCounterTest : public ConcurrentStore {
 protected:
  ConcurrentCounterTest() {
    ModelTable table = plain_table("numbers");
    table.types["parity"] = item::Type::string;
    table.types["n"] = item::Type::number;
    table.indexes = {plain_index("by_parity", "parity", "n")};
    create(table);
    for (int i = 0; i < counters; ++i) put("numbers", {{"pk", name(i)}, {"n", 0}, {"parity", "even"}});
  }

  static std::string name(int counter) { return "counter-" + std::to_string(counter); }
  static item::Key key(int counter) { return {{"pk", name(counter)}}; }

  std::int64_t value(int counter) {
    const auto item = get("numbers", key(counter));
    return item ? *item->find("n")->as<item::Number>().to_int64() : -1;
  }

  static store::UpdateItemRequest addition(int counter) {
    store::UpdateItemRequest request;
    request.table_name = "numbers";
    request.key = key(counter);
    request.update = "ADD n :one";
    request.placeholders.values = item::Map{{":one", 1}};
    return request;
  }

  // From the expected value to the next one, and nothing if another was faster.
  store::Answer<store::WriteItemResponse> exchange(int counter, std::int64_t expected, Choice& choice) {
    store::UpdateItemRequest request;
    request.table_name = "numbers";
    request.key = key(counter);
    request.update = "SET n = :next, parity = :parity";
    request.condition = "n = :expected";
    request.placeholders.values = item::Map{
        {":next", expected + 1}, {":expected", expected}, {":parity", (expected + 1) % 2 == 0 ? "even" : "odd"}};
    return send(store(), choice, request);
  }
};

TEST_P(ConcurrentCounterTest, NoIncrementIsLostOrDoubled) {
  const int operations = scaled(GetParam().durability == engine::Durability::synced ? 400 : 1'500);
  std::array<std::atomic<std::int64_t>, counters> acknowledged{};
  run(counting_threads, [&](int, Choice& choice) {
    for (int i = 0; i < operations; ++i) {
      const int counter = choice.between(0, counters - 1);
      const auto written =
          choice.one_in(2) ? send(store(), choice, addition(counter)) : exchange(counter, value(counter), choice);
      if (written)
        ++acknowledged[static_cast<std::size_t>(counter)];
      else
        ASSERT_EQ(written.error().type, store::ErrorType::conditional_check_failed) << text_of(written.error());
    }
  });
  for (int i = 0; i < counters; ++i) EXPECT_EQ(value(i), acknowledged[static_cast<std::size_t>(i)]) << name(i);
  check_contents();
}

// Requests whose callers do not wait for them pile up in the queue; all of them are answered and none is lost, even
// when the store is closed meanwhile.
TEST_P(ConcurrentCounterTest, EverythingIsAnsweredWhenNobodyWaits) {
  const int operations = scaled(1'000);
  std::atomic<int> acknowledged = 0;
  std::atomic<int> answered = 0;
  run(counting_threads, [&](int, Choice& choice) {
    for (int i = 0; i < operations; ++i)
      store().update_item(addition(choice.between(0, counters - 1)), [&](const auto& answer) {
        if (answer) ++acknowledged;
        ++answered;
      });
  });
  reopen();
  EXPECT_EQ(answered, counting_threads * operations);
  EXPECT_EQ(acknowledged, counting_threads * operations);
  std::int64_t sum = 0;
  for (int i = 0; i < counters; ++i) sum += value(i);
  EXPECT_EQ(sum, acknowledged);
  check_contents();
}

struct Exchange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t expected = 0;
};
struct Read {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t value = 0;
};

// A register is linearizable when every value is set by one exchange, and when what begins after something ended never
// sees or sets an older value.
void check_register(std::vector<Exchange> exchanges, const std::vector<Read>& reads) {
  std::ranges::sort(exchanges, {}, &Exchange::expected);
  std::int64_t latest_begin = 0;
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    ASSERT_EQ(exchanges[i].expected, static_cast<std::int64_t>(i)) << "two exchanges from one value, or none";
    // If one write ended before another one began, the later one may not set an older value.
    ASSERT_LE(latest_begin, exchanges[i].end) << "the exchange from " << i << " came too late";
    latest_begin = std::max(latest_begin, exchanges[i].begin);
  }
  for (const Read& read : reads) {
    const auto value = static_cast<std::size_t>(read.value);
    ASSERT_LE(value, exchanges.size());
    ASSERT_TRUE(value == 0 || exchanges[value - 1].begin < read.end) << "a value was seen before it was set";
    ASSERT_TRUE(value == exchanges.size() || read.begin < exchanges[value].end) << "an old value was seen";
  }
}

TEST_P(ConcurrentCounterTest, CompareAndSwapIsLinearizable) {
  const int operations = scaled(GetParam().durability == engine::Durability::synced ? 300 : 1'000);
  std::array<std::vector<Exchange>, counting_threads> exchanges;
  std::array<std::vector<Read>, counting_threads> reads;
  run(counting_threads, [&](int thread, Choice& choice) {
    const auto mine = static_cast<std::size_t>(thread);
    for (int i = 0; i < operations; ++i) {
      Read read{tick(), 0, value(0)};
      read.end = tick();
      reads[mine].push_back(read);
      Exchange attempt{tick(), 0, read.value};
      const auto written = exchange(0, read.value, choice);
      attempt.end = tick();
      if (written)
        exchanges[mine].push_back(attempt);
      else
        ASSERT_EQ(written.error().type, store::ErrorType::conditional_check_failed) << text_of(written.error());
    }
  });
  std::vector<Exchange> all_exchanges;
  std::vector<Read> all_reads;
  for (const auto& some : exchanges) all_exchanges.insert(all_exchanges.end(), some.begin(), some.end());
  for (const auto& some : reads) all_reads.insert(all_reads.end(), some.begin(), some.end());
  EXPECT_EQ(value(0), static_cast<std::int64_t>(all_exchanges.size()));
  check_register(std::move(all_exchanges), all_reads);
  check_contents();
}

INSTANTIATE_TEST_SUITE_P(Busy, ConcurrentCounterTest,
                         testing::Values(Business{"Plain"}, Business{"Maintained", true},
                                         Business{"NewIndexes", false, true},
                                         Business{"Synced", true, true, engine::Durability::synced}),
                         [](const auto& business) { return business.param.name; });

}  // namespace
}  // namespace postino::model
