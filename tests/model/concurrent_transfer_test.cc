// Money moves between accounts in transactions: at every moment, for every reader, the sum is the same.
#include <array>

#include "concurrent_store.h"
#include "request_text.h"

namespace postino::model {
namespace {

constexpr int accounts = 6;
constexpr std::int64_t start_balance = 100;
constexpr int transfer_writers = 6;
constexpr int transfer_readers = 2;

class ConcurrentTransferTest : public ConcurrentStore {
 protected:
  ConcurrentTransferTest() {
    ModelTable table = plain_table("accounts");
    table.types["holder"] = item::Type::string;
    table.types["balance"] = item::Type::number;
    table.indexes = {plain_index("by_holder", "holder", "balance")};
    table.indexes[0].projection = store::ProjectionType::keys_only;
    create(table);
    for (int i = 0; i < accounts; ++i)
      put("accounts", {{"pk", name(i)}, {"holder", i % 2 == 0 ? "a" : "b"}, {"balance", start_balance}});
  }

  static std::string name(int account) { return "account-" + std::to_string(account); }

  static store::TransactUpdate movement(int account, const char* update, int amount, bool must_suffice) {
    store::TransactUpdate action;
    action.table_name = "accounts";
    action.key = {{"pk", name(account)}};
    action.update = update;
    if (must_suffice) action.condition = "balance >= :amount";
    action.placeholders.values = item::Map{{":amount", amount}};
    return action;
  }

  // The balances of all accounts, in one transaction.
  std::vector<std::int64_t> balances() {
    store::TransactGetItemsRequest request;
    for (int i = 0; i < accounts; ++i) {
      store::TransactGet& get = request.gets.emplace_back();
      get.table_name = "accounts";
      get.key = {{"pk", name(i)}};
    }
    const auto read = store().transact_get_items(request);
    EXPECT_TRUE(read) << text_of(read.error());
    std::vector<std::int64_t> result;
    if (read)
      for (const auto& item : read->items) result.push_back(*item->find("balance")->as<item::Number>().to_int64());
    return result;
  }

  void check_balances() {
    std::int64_t sum = 0;
    for (const std::int64_t balance : balances()) {
      EXPECT_GE(balance, 0);
      sum += balance;
    }
    EXPECT_EQ(sum, accounts * start_balance);
  }

  // True when the money moved.
  bool transfer(int from, int to, int amount, const std::string& token, Choice& choice) {
    store::TransactWriteItemsRequest request;
    request.actions = {movement(from, "SET balance = balance - :amount", amount, true),
                       movement(to, "SET balance = balance + :amount", amount, false)};
    if (choice.one_in(2)) std::swap(request.actions[0], request.actions[1]);
    if (choice.one_in(2)) request.client_request_token = token;
    const auto moved = send(store(), choice, request);
    if (!moved) {
      EXPECT_EQ(moved.error().type, store::ErrorType::transaction_canceled) << text_of(moved.error());
      return false;
    }
    // A repeat under the same token succeeds without moving anything.
    if (request.client_request_token && choice.one_in(2)) {
      const auto again = send(store(), choice, request);
      EXPECT_TRUE(again) << text_of(again.error());
    }
    return true;
  }
};

TEST_P(ConcurrentTransferTest, EveryReaderSeesTheWholeSum) {
  const int operations = scaled(GetParam().durability == engine::Durability::synced ? 300 : 1'000);
  std::array<std::atomic<std::int64_t>, accounts> expected{};
  for (auto& balance : expected) balance = start_balance;
  std::atomic<int> busy_writers = transfer_writers;
  run(transfer_writers + transfer_readers, [&](int thread, Choice& choice) {
    if (thread >= transfer_writers) {
      while (busy_writers > 0 && !HasFailure()) check_balances();
      return;
    }
    for (int i = 0; i < operations && !HasFailure(); ++i) {
      const int from = choice.between(0, accounts - 1);
      const int to = (from + choice.between(1, accounts - 1)) % accounts;
      const int amount = choice.between(1, 60);
      const std::string token = std::to_string(thread) + "-" + std::to_string(i);
      if (!transfer(from, to, amount, token, choice)) continue;
      expected[static_cast<std::size_t>(from)] -= amount;
      expected[static_cast<std::size_t>(to)] += amount;
    }
    --busy_writers;
  });
  check_balances();
  const std::vector<std::int64_t> final_balances = balances();
  for (std::size_t i = 0; i < final_balances.size(); ++i) EXPECT_EQ(final_balances[i], expected[i]) << i;
  check_contents();
}

INSTANTIATE_TEST_SUITE_P(Busy, ConcurrentTransferTest,
                         testing::Values(Business{"Plain"}, Business{"Maintained", true, true},
                                         Business{"Synced", false, true, engine::Durability::synced}),
                         [](const auto& business) { return business.param.name; });

}  // namespace
}  // namespace postino::model
