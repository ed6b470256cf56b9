// What the guard does for executions that take a while: progress, remains, large answers, records of other programs.
#include <gmock/gmock.h>

#include "base/timestamp.h"
#include "engine/embedded_store_testing.h"
#include "idempotency/guard.h"
#include "idempotency/lease_keeper.h"
#include "item/json_codec.h"

namespace postino::idempotency {
namespace {

using engine::embedded_start;
using engine::EmbeddedStore;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::SizeIs;

class GuardProgressTest : public ::testing::Test {
 protected:
  GuardProgressTest() { EXPECT_TRUE(prepare_tables(store_.engine(), options_.table)); }

  Begun begin(const std::string& hash = "h") {
    auto begun = guard_.begin("PRODUCE", "k", hash);
    EXPECT_TRUE(begun) << begun.error().message;
    if (begun) begun->mark.reset();  // each is what another process would begin
    return begun ? *std::move(begun) : Begun();
  }
  void put(item::Item item) {
    store::PutItemRequest request;
    request.table_name = options_.table;
    request.item = std::move(item);
    ASSERT_TRUE(store_.engine().put_item(request));
  }
  item::Item stored() { return store_.scan(options_.table).at(0); }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(embedded_start);
  EmbeddedStore store_{clock_};
  const GuardOptions options_;
  Guard guard_{store_.engine(), *clock_, store_.random(), options_};
};

TEST_F(GuardProgressTest, WhoGoesOnAfterAFailureGetsTheProgress) {
  Begun first = begin();
  EXPECT_EQ(first.record.progress, "");
  first.record.progress = "half";
  ASSERT_TRUE(guard_.note_progress(first.record));
  ASSERT_TRUE(guard_.fail(first.record));
  clock_->advance(seconds(1));
  const Begun second = begin();
  EXPECT_EQ(second.state, KeyState::execute);
  EXPECT_EQ(second.record.progress, "half");
  EXPECT_EQ(second.record.created_at, embedded_start) << "it is the same record";
  Record told = second.record;
  told.life_ends = {};  // is not stored
  EXPECT_EQ(*from_item(stored()), told) << "the store has it before it is told";
  ASSERT_TRUE(guard_.complete(second.record, "done"));
  EXPECT_EQ(begin().record.progress, "");
}

TEST_F(GuardProgressTest, WhoTakesOverFromTheDeadGetsTheProgressAndTheDeadCannotGoOn) {
  Begun first = begin();
  first.record.progress = "a third";
  ASSERT_TRUE(guard_.note_progress(first.record));
  clock_->advance(seconds(30));
  Begun second = begin();
  EXPECT_EQ(second.record.progress, "a third");
  second.record.progress = "two thirds";
  ASSERT_TRUE(guard_.note_progress(second.record));
  first.record.progress = "half";
  const auto late = guard_.note_progress(first.record);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().type, store::ErrorType::conditional_check_failed);
  EXPECT_EQ(from_item(stored())->progress, "two thirds");
}

TEST_F(GuardProgressTest, WhatHasComeSomeWayIsLeftToTheSameRequest) {
  Begun first = begin("one");
  first.record.progress = "half";
  ASSERT_TRUE(guard_.note_progress(first.record));
  clock_->advance(seconds(31));
  EXPECT_EQ(begin("two").state, KeyState::other_request) << "its process may be dead, and yet";
  ASSERT_TRUE(guard_.fail(first.record));
  EXPECT_EQ(begin("two").state, KeyState::other_request);
  clock_->advance(hours(24));
  const Begun second = begin("two");
  EXPECT_EQ(second.state, KeyState::execute);
  EXPECT_EQ(second.record.progress, "");
  EXPECT_EQ(second.record.created_at, clock_->now());
}

TEST_F(GuardProgressTest, WhatFailedWithoutProgressLeavesTheKeyToAnybody) {
  const Begun first = begin("one");
  clock_->advance(seconds(31));
  EXPECT_EQ(begin("two").state, KeyState::other_request) << "it may have done something";
  ASSERT_TRUE(guard_.fail(first.record));
  EXPECT_EQ(begin("two").state, KeyState::execute);
}

// A record may live for a minute, and its execution take longer.
TEST_F(GuardProgressTest, ARecordDoesNotExpireUnderAnExecution) {
  auto begun = guard_.begin("PRODUCE", "k", "h", seconds(60));
  ASSERT_TRUE(begun);
  begun->mark.reset();  // others ask at another process
  for (int i = 0; i < 4; ++i) {
    clock_->advance(seconds(20));
    EXPECT_EQ(begin().state, KeyState::in_progress);
    ASSERT_TRUE(i % 2 == 0 ? guard_.renew(begun->record) : guard_.note_progress(begun->record));
  }
  EXPECT_GT(stored().find("ttl")->get_if<item::Number>()->to_int64(), base::epoch_seconds(clock_->now()));
  ASSERT_TRUE(guard_.complete(begun->record, "done"));
  clock_->advance(seconds(59));
  EXPECT_EQ(begin().state, KeyState::replay) << "the answer has the life it was promised";
  clock_->advance(seconds(1));
  EXPECT_EQ(begin().state, KeyState::execute);
}

TEST_F(GuardProgressTest, AnAnswerIsKeptForASecondIfThatIsWishedFor) {
  const auto begun = guard_.begin("PRODUCE", "k", "h", seconds(1));
  ASSERT_TRUE(begun);
  ASSERT_TRUE(guard_.complete(begun->record, "done"));
  EXPECT_EQ(begin().state, KeyState::replay);
  clock_->advance(seconds(1));
  EXPECT_EQ(begin().state, KeyState::execute);
}

TEST_F(GuardProgressTest, WhatRemainsIsDoneBeforeAShortLifeEnds) {
  const auto begun = guard_.begin("CONSUME", "k", "h", seconds(3));
  ASSERT_TRUE(begun);
  ASSERT_TRUE(guard_.complete(begun->record, "done", "tidy up"));
  const auto state = [&] { return guard_.look("CONSUME", "k", "h")->state; };
  clock_->advance(seconds(2));
  ASSERT_TRUE(guard_.settle(begun->record));
  EXPECT_EQ(state(), KeyState::replay);
  clock_->advance(seconds(1));
  EXPECT_EQ(state(), KeyState::execute);

  const auto slow = guard_.begin("CONSUME", "slow", "h", seconds(3));
  ASSERT_TRUE(slow);
  ASSERT_TRUE(guard_.complete(slow->record, "done", "tidy up"));
  clock_->advance(seconds(20));
  EXPECT_EQ(guard_.look("CONSUME", "slow", "h")->state, KeyState::replay) << "somebody has to tidy up";
  ASSERT_TRUE(guard_.settle(slow->record));
  EXPECT_EQ(guard_.look("CONSUME", "slow", "h")->state, KeyState::replay) << "the answer has just been given";
}

TEST_F(GuardProgressTest, WhoDiesAfterTheLifeOfTheRecordLeavesTheProgress) {
  auto begun = guard_.begin("PRODUCE", "k", "h", seconds(60));
  ASSERT_TRUE(begun);
  begun->mark.reset();  // others ask at another process
  begun->record.progress = "half";
  for (int i = 0; i < 4; ++i) {
    clock_->advance(seconds(20));
    ASSERT_TRUE(guard_.note_progress(begun->record));
  }
  clock_->advance(seconds(31));
  EXPECT_EQ(begin().record.progress, "half");
}

TEST_F(GuardProgressTest, NotingProgressRenewsTheLease) {
  Begun begun = begin();
  for (int i = 0; i < 3; ++i) {
    clock_->advance(seconds(29));
    EXPECT_EQ(begin().state, KeyState::in_progress);
    ASSERT_TRUE(guard_.note_progress(begun.record));
  }
}

TEST_F(GuardProgressTest, ARenewalLeavesTheProgressAlone) {
  Begun begun = begin();
  Record before = begun.record;
  begun.record.progress = "half";
  ASSERT_TRUE(guard_.note_progress(begun.record));
  ASSERT_TRUE(guard_.renew(before));
  EXPECT_EQ(from_item(stored())->progress, "half");
}

TEST_F(GuardProgressTest, ACompletedRecordSaysWhatRemainsUntilItIsSettled) {
  const Begun begun = begin();
  ASSERT_TRUE(guard_.complete(begun.record, "answer", "tidy up"));
  const Begun again = begin();
  EXPECT_EQ(again.state, KeyState::replay);
  EXPECT_EQ(again.record.response, "answer");
  EXPECT_EQ(again.record.progress, "tidy up");
  EXPECT_EQ(again.record.lease_until, clock_->now() + seconds(30));
  EXPECT_EQ(begin("other").state, KeyState::other_request);
  ASSERT_TRUE(guard_.settle(again.record));
  EXPECT_EQ(begin().record.progress, "");
  EXPECT_EQ(begin().record.response, "answer");
  EXPECT_FALSE(stored().contains("leaseUntil"));
  EXPECT_FALSE(guard_.settle(again.record)) << "it was";
}

TEST_F(GuardProgressTest, AnswersUpToALimitAreInTheRecord) {
  const Begun begun = begin();
  ASSERT_TRUE(guard_.complete(begun.record, std::string(350 << 10, 'x')));
  EXPECT_TRUE(stored().contains("responsePayload"));
  EXPECT_THAT(store_.scan(options_.table + "-answers"), SizeIs(0));
  const auto larger = guard_.begin("CONSUME", "k", "h");
  const std::string answer((350 << 10) + 1, 'y');
  ASSERT_TRUE(guard_.complete(larger->record, answer));
  EXPECT_THAT(store_.scan(options_.table + "-answers"), SizeIs(2));
  EXPECT_EQ(guard_.begin("CONSUME", "k", "h")->record.response, answer);
  EXPECT_EQ(guard_.look("CONSUME", "k", "h")->record.response, answer);
}

// As another program writes it: times without milliseconds, no lease.
item::Item foreign_record(const std::string& status) {
  item::Item item{{"pk", "PRODUCE#k"},
                  {"operationType", "PRODUCE"},
                  {"idempotencyKey", "k"},
                  {"status", status},
                  {"requestHash", "h"},
                  {"createdAt", "2026-01-01T12:00:00Z"},
                  {"updatedAt", "2026-01-01T12:00:02Z"},
                  {"expiresAt", "2026-01-02T12:00:00Z"},
                  {"ttl", 1'767'355'200}};
  if (status == "COMPLETED") item.set("responsePayload", R"({"processedMessages":100,"elapsed":"PT2.5S"})");
  return item;
}

TEST_F(GuardProgressTest, RecordsOfOtherProgramsAreUnderstood) {
  put(foreign_record("COMPLETED"));
  EXPECT_EQ(begin().state, KeyState::replay);
  EXPECT_EQ(begin().record.response, R"({"processedMessages":100,"elapsed":"PT2.5S"})");
  EXPECT_EQ(begin("other").state, KeyState::other_request);
  clock_->advance(hours(24));
  EXPECT_EQ(begin("other").state, KeyState::execute) << "it has expired";

  put(foreign_record("FAILED"));
  clock_->advance(-hours(24));
  EXPECT_EQ(begin().state, KeyState::execute);
  put(foreign_record("IN_PROGRESS"));
  EXPECT_EQ(begin().state, KeyState::execute) << "no process has a lease of it";
}

TEST_F(GuardProgressTest, TheKeeperNoticesThatALeaseIsLost) {
  LeaseKeeper keeper(guard_, *clock_);
  const Begun first = begin();
  const auto hold = keeper.hold(first.record);
  clock_->advance(seconds(9));
  keeper.renew_once();
  EXPECT_EQ(from_item(stored())->lease_until, embedded_start + seconds(30)) << "less than a third is used";
  clock_->advance(seconds(1));
  keeper.renew_once();
  EXPECT_EQ(from_item(stored())->lease_until, embedded_start + seconds(40));
  clock_->advance(seconds(30));
  EXPECT_EQ(begin().state, KeyState::execute);
  EXPECT_FALSE(hold->is_lost());
  keeper.renew_once();
  EXPECT_TRUE(hold->is_lost());
}

}  // namespace
}  // namespace postino::idempotency
