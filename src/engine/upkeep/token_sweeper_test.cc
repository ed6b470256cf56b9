#include "engine/upkeep/token_sweeper.h"

#include <gmock/gmock.h>

#include "engine/core_tables_testing.h"
#include "engine/items/transaction_tokens.h"

namespace postino::engine {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class TokenSweeperTest : public CoreTablesTest {
 protected:
  std::shared_ptr<CommitEntry> queue_token(const std::string& token, base::TimePoint expires) {
    auto entry = std::make_shared<CommitEntry>();
    LockedItems items(core());
    items.lock({token_lock_key(token)});
    items.plan_token(token, {expires, "hash"}, *entry);
    items.queue(entry);
    return entry;
  }
  void put_token(const std::string& token, base::TimePoint expires) {
    ASSERT_TRUE(core().queue->wait(queue_token(token, expires)));
  }
  std::vector<std::string> stored(char kind) {
    const std::string first(1, kind);
    const std::string end(1, static_cast<char>(kind + 1));
    const rocksdb::Slice lower(first);
    const rocksdb::Slice upper(end);
    std::vector<std::string> keys;
    const auto entries = core().database->iterate(Family::tokens, lower, upper);
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) keys.push_back(entries->key().ToString());
    return keys;
  }
  bool run_once() {
    const auto more = sweeper_.run_once();
    EXPECT_EQ(outcome_of(more), "ok");
    return more.value_or(false);
  }

  TokenSweeper sweeper_{core()};
};

TEST_F(TokenSweeperTest, ForgetsExpiredTokens) {
  const base::TimePoint now = clock().now();
  put_token("one", now);
  put_token("two", now + base::Milliseconds(1));
  EXPECT_FALSE(run_once());
  EXPECT_THAT(stored('t'), ::testing::ElementsAre("ttwo"));
  EXPECT_THAT(stored('e'), SizeIs(1));
  clock().advance(base::Milliseconds(1));
  EXPECT_FALSE(run_once());
  EXPECT_THAT(stored('t'), IsEmpty());
  EXPECT_THAT(stored('e'), IsEmpty());
}

TEST_F(TokenSweeperTest, KeepsTheRecordOfATokenThatWasUsedAgain) {
  const base::TimePoint now = clock().now();
  put_token("one", now);
  put_token("one", now + std::chrono::minutes(10));
  put_token("two", now);
  const auto on_its_way = queue_token("two", now + std::chrono::minutes(10));
  run_once();
  ASSERT_TRUE(core().queue->wait(on_its_way));
  EXPECT_THAT(stored('t'), SizeIs(2));
  EXPECT_THAT(stored('e'), SizeIs(2));
  clock().advance(std::chrono::minutes(10));
  run_once();
  EXPECT_THAT(stored('t'), IsEmpty());
  EXPECT_THAT(stored('e'), IsEmpty());
}

TEST_F(TokenSweeperTest, WorksInBoundedRounds) {
  std::shared_ptr<CommitEntry> last;
  for (int i = 0; i < 1'200; ++i) last = queue_token("token" + std::to_string(i), clock().now());
  ASSERT_TRUE(core().queue->wait(last));
  EXPECT_TRUE(run_once());
  EXPECT_THAT(stored('t'), SizeIs(200));
  EXPECT_FALSE(run_once());
  EXPECT_THAT(stored('t'), IsEmpty());
}

}  // namespace
}  // namespace postino::engine
