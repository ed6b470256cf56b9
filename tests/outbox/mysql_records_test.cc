// Requests that several servers on one database execute once.
#include "outbox/mysql_ledger/mysql_records.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/many_threads_testing.h"
#include "idempotency/guard.h"
#include "lossy_proxy.h"
#include "mysql_outbox.h"

namespace postino::outbox {
namespace {

using idempotency::Begun;
using idempotency::Guard;
using idempotency::GuardOptions;
using idempotency::KeyState;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::size_t large = 2'000'000;

// A server with connections and a store of its own.
class KeyServer {
 public:
  KeyServer(const mysql::ServerOptions& server, std::shared_ptr<base::ManualClock> clock, std::uint64_t seed)
      : random_(seed),
        database_(server, {.size = 8}, random_, [](base::Milliseconds) { std::this_thread::yield(); }),
        store_(clock),
        guard_(store_.engine(), machine_clock_, random_, options(clock)) {}

  Guard& guard() { return guard_; }
  Begun begin(const std::string& hash = "h", const std::string& key = "k") {
    auto begun = guard_.begin("PRODUCE", key, hash);
    EXPECT_TRUE(begun) << begun.error().message;
    return begun ? *std::move(begun) : Begun();
  }

 private:
  GuardOptions options(const std::shared_ptr<base::ManualClock>& clock) {
    GuardOptions options{"once", hours(24), seconds(30)};
    options.shared_records = std::make_shared<MysqlRecords>(database_);
    options.shared_clock = clock;
    return options;
  }

  base::SeededRandom random_;
  mysql::Database database_;
  engine::EmbeddedStore store_;
  const base::ManualClock machine_clock_{test_start + hours(1'000)};  // it counts for nothing
  Guard guard_;
};

store::ErrorType fault_of(const store::Answer<void>& answer) {
  EXPECT_FALSE(answer);
  return answer ? store::ErrorType::validation : answer.error().type;
}

class MysqlRecordsTest : public testing::Test {
 protected:
  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox_{SpoolChoice::store, clock_};
  KeyServer first_{outbox_.server(), clock_, 1};
  KeyServer second_{outbox_.server(), clock_, 2};
};

TEST_F(MysqlRecordsTest, WhatOneServerHasExecutedAnotherAnswers) {
  const Begun begun = first_.begin();
  EXPECT_EQ(begun.state, KeyState::execute);
  EXPECT_EQ(second_.begin().state, KeyState::in_progress);
  EXPECT_EQ(second_.begin("another").state, KeyState::other_request);
  ASSERT_TRUE(first_.guard().complete(begun.record, "the answer"));
  const Begun again = second_.begin();
  EXPECT_EQ(again.state, KeyState::replay);
  EXPECT_EQ(again.record.response, "the answer");
  EXPECT_EQ(second_.begin("another").state, KeyState::other_request);
  EXPECT_EQ(second_.begin("h", "K").state, KeyState::execute) << "keys differ by case";
  EXPECT_EQ(fault_of(first_.guard().complete(begun.record, "other")), store::ErrorType::conditional_check_failed);
  clock_->advance(hours(25));
  EXPECT_EQ(second_.begin("another").state, KeyState::execute) << "it has expired";
}

TEST_F(MysqlRecordsTest, AnotherServerTakesOverWhatLostItsLeaseWithItsProgress) {
  Begun begun = first_.begin();
  begun.record.progress = "half";
  ASSERT_TRUE(first_.guard().note_progress(begun.record));
  clock_->advance(seconds(29));
  ASSERT_TRUE(first_.guard().renew(begun.record));
  clock_->advance(seconds(29));
  EXPECT_EQ(second_.begin().state, KeyState::in_progress) << "its lease was renewed";
  clock_->advance(seconds(2));
  const Begun taken = second_.begin();
  EXPECT_EQ(taken.state, KeyState::execute);
  EXPECT_EQ(taken.record.progress, "half");
  EXPECT_EQ(fault_of(first_.guard().renew(begun.record)), store::ErrorType::conditional_check_failed);
  EXPECT_EQ(fault_of(first_.guard().complete(begun.record, "late")), store::ErrorType::conditional_check_failed);
  EXPECT_EQ(fault_of(first_.guard().fail(begun.record)), store::ErrorType::conditional_check_failed);
  ASSERT_TRUE(second_.guard().fail(taken.record));
  const Begun next = first_.begin();
  EXPECT_EQ(next.state, KeyState::execute);
  EXPECT_EQ(next.record.progress, "half");
}

TEST_F(MysqlRecordsTest, WhatRemainsIsSettledOnce) {
  const Begun begun = first_.begin();
  ASSERT_TRUE(first_.guard().complete(begun.record, "answer", "unsettled"));
  EXPECT_EQ(second_.begin().record.progress, "unsettled");
  ASSERT_TRUE(first_.guard().settle(begun.record));
  const Begun replayed = second_.begin();
  EXPECT_EQ(replayed.record.progress, "");
  EXPECT_EQ(replayed.record.response, "answer");
  EXPECT_EQ(fault_of(first_.guard().settle(begun.record)), store::ErrorType::conditional_check_failed);
}

TEST_F(MysqlRecordsTest, LargeAnswersAreKeptBesideTheirRecords) {
  std::string answer(large, 'x');
  for (std::size_t i = 0; i < large; i += 1'000) answer[i] = static_cast<char>('a' + i / 1'000 % 26);
  const Begun begun = first_.begin();
  ASSERT_TRUE(first_.guard().complete(begun.record, answer));
  EXPECT_TRUE(second_.begin().record.response == answer);
  EXPECT_GT(outbox_.number("SELECT COUNT(*) FROM idempotency_answers"), 1);
  outbox_.execute("DELETE FROM idempotency_answers WHERE part = 1");
  EXPECT_EQ(second_.begin().state, KeyState::unreadable);
}

TEST_F(MysqlRecordsTest, ASpoiltRecordIsRefusedForGood) {
  ASSERT_EQ(first_.begin().state, KeyState::execute);
  for (const char* const damaged : {"{", "{}", R"({"pk":{"S":"PRODUCE#k"},"status":{"S":"DONE"}})"}) {
    outbox_.execute("UPDATE idempotency_records SET record = ?", {damaged});
    EXPECT_EQ(second_.begin().state, KeyState::unreadable) << damaged;
  }
  outbox_.execute("DELETE FROM idempotency_records");
  EXPECT_EQ(second_.begin().state, KeyState::execute);
}

TEST_F(MysqlRecordsTest, ExpiredRecordsAreSweptWithTheirAnswers) {
  const auto process = outbox_.make_process();
  const Begun begun = first_.begin();
  ASSERT_TRUE(first_.guard().complete(begun.record, std::string(large, 'x')));
  EXPECT_EQ(process->ledger().sweep(100).value_or(-1), 0);
  clock_->advance(hours(24 * 3));
  EXPECT_GT(process->ledger().sweep(100).value_or(-1), 1);
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM idempotency_records"), 0);
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM idempotency_answers"), 0);
}

TEST_F(MysqlRecordsTest, OfConcurrentRequestsOneIsExecuted) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> executed = 0;
    const std::string key = "k" + std::to_string(round);
    base::run_threads(8, [&](int thread) {
      const Begun begun = (thread % 2 == 0 ? first_ : second_).begin("h", key);
      if (begun.state == KeyState::execute) ++executed;
    });
    EXPECT_EQ(executed, 1) << round;
  }
}

// The answer to a COMMIT is lost: the writer finds what it wrote itself, and does not take it for another's.
TEST_F(MysqlRecordsTest, ACommitWithoutAnAnswerIsFoundAgain) {
  mysql::LossyProxy proxy(outbox_.server());
  KeyServer lossy(proxy.options(), clock_, 3);
  for (int round = 0; round < 3; ++round) {
    const std::string key = "k" + std::to_string(round);
    proxy.lose_answer_to("COMMIT");
    Begun begun = lossy.begin("h", key);
    EXPECT_EQ(begun.state, KeyState::execute);
    proxy.lose_answer_to("COMMIT");
    EXPECT_TRUE(lossy.guard().renew(begun.record));
    proxy.lose_answer_to("COMMIT");
    EXPECT_TRUE(lossy.guard().complete(begun.record, "answer", "unsettled"));
    proxy.lose_answer_to("COMMIT");
    EXPECT_TRUE(lossy.guard().settle(begun.record));
    EXPECT_EQ(second_.begin("h", key).state, KeyState::replay);
  }
  EXPECT_EQ(proxy.lost(), 12);
}

}  // namespace
}  // namespace postino::outbox
