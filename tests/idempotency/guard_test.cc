// Executions that happen once, on the embedded store.
#include "idempotency/guard.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/plausible_clock.h"
#include "engine/embedded_store_testing.h"
#include "item/json_codec.h"

namespace postino::idempotency {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class GuardTest : public testing::Test {
 protected:
  GuardTest() { EXPECT_TRUE(prepare_tables(store_.engine(), options_.table)); }

  Begun begin(const std::string& key = "k", const std::string& hash = "h", const std::string& operation = "PRODUCE") {
    auto begun = guard_.begin(operation, key, hash);
    EXPECT_TRUE(begun) << begun.error().message;
    if (begun) begun->mark.reset();  // each is what another process would begin
    return begun ? *std::move(begun) : Begun();
  }
  store::ErrorType fault(const store::Answer<void>& answer) {
    EXPECT_FALSE(answer);
    return answer ? store::ErrorType::validation : answer.error().type;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore store_{clock_};
  GuardOptions options_{"once", hours(24), seconds(30)};
  base::SeededRandom random_{9};
  Guard guard_{store_.engine(), *clock_, random_, options_};
};

TEST_F(GuardTest, TheFirstExecutesAndOthersGetItsAnswer) {
  const Begun first = begin();
  EXPECT_EQ(first.state, KeyState::execute);
  EXPECT_FALSE(first.record.owner.empty());
  EXPECT_EQ(begin().state, KeyState::in_progress);
  ASSERT_TRUE(guard_.complete(first.record, "the answer"));
  const Begun second = begin();
  EXPECT_EQ(second.state, KeyState::replay);
  EXPECT_EQ(second.record.response, "the answer");
  EXPECT_EQ(second.record.status, Status::completed);
  EXPECT_EQ(guard_.complete(first.record, "another").error().type, store::ErrorType::conditional_check_failed);
  EXPECT_EQ(begin().record.response, "the answer");
}

TEST_F(GuardTest, RecordsHaveTheirPublicForm) {
  const Begun begun = begin();
  EXPECT_EQ(item::to_json(store_.scan(options_.table).at(0)),
            item::to_json(item::Item{{"pk", "PRODUCE#k"},
                                     {"operationType", "PRODUCE"},
                                     {"idempotencyKey", "k"},
                                     {"status", "IN_PROGRESS"},
                                     {"requestHash", "h"},
                                     {"createdAt", "2026-01-02T03:04:05.000Z"},
                                     {"updatedAt", "2026-01-02T03:04:05.000Z"},
                                     {"expiresAt", "2026-01-03T03:04:05.000Z"},
                                     {"ttl", 1'767'409'445},
                                     {"leaseUntil", "2026-01-02T03:04:35.000Z"},
                                     {"leaseOwner", begun.record.owner}}));
  clock_->advance(seconds(1));
  ASSERT_TRUE(guard_.complete(begun.record, "answer"));
  EXPECT_EQ(item::to_json(store_.scan(options_.table).at(0)),
            item::to_json(item::Item{{"pk", "PRODUCE#k"},
                                     {"operationType", "PRODUCE"},
                                     {"idempotencyKey", "k"},
                                     {"status", "COMPLETED"},
                                     {"requestHash", "h"},
                                     {"createdAt", "2026-01-02T03:04:05.000Z"},
                                     {"updatedAt", "2026-01-02T03:04:06.000Z"},
                                     {"expiresAt", "2026-01-03T03:04:05.000Z"},
                                     {"ttl", 1'767'409'445},
                                     {"responsePayload", "answer"}}));
}

// Items are removed when the second of their attribute begins.
TEST_F(GuardTest, ALifeOfSecondsIsNotShortened) {
  clock_->advance(base::Milliseconds(930));
  ASSERT_TRUE(guard_.complete(guard_.begin("PRODUCE", "k", "h", seconds(3))->record, "answer"));
  const item::Item record = store_.scan(options_.table).at(0);
  EXPECT_EQ(*record.find("ttl"), item::AttributeValue(1'767'323'049));
  EXPECT_EQ(*record.find("expiresAt"), item::AttributeValue("2026-01-02T03:04:09.000Z"));
}

TEST_F(GuardTest, OperationsAreNameSpacesOfTheirOwn) {
  EXPECT_EQ(begin("k", "h", "PRODUCE").state, KeyState::execute);
  EXPECT_EQ(begin("k", "h", "CONSUME").state, KeyState::execute);
  EXPECT_EQ(begin("other", "h", "PRODUCE").state, KeyState::execute);
}

TEST_F(GuardTest, AnotherRequestUnderTheKeyIsRefusedBeforeAndAfterTheEnd) {
  const Begun first = begin("k", "one");
  EXPECT_EQ(begin("k", "two").state, KeyState::other_request);
  ASSERT_TRUE(guard_.complete(first.record, "answer"));
  EXPECT_EQ(begin("k", "two").state, KeyState::other_request);
  EXPECT_EQ(begin("k", "one").state, KeyState::replay);
}

TEST_F(GuardTest, WhatFailedMayBeTriedAgain) {
  const Begun first = begin("k", "one");
  ASSERT_TRUE(guard_.fail(first.record));
  const Begun second = begin("k", "two");
  EXPECT_EQ(second.state, KeyState::execute);
  EXPECT_EQ(fault(guard_.fail(first.record)), store::ErrorType::conditional_check_failed);
  EXPECT_EQ(fault(guard_.complete(first.record, "late")), store::ErrorType::conditional_check_failed);
  EXPECT_TRUE(guard_.complete(second.record, "answer"));
}

TEST_F(GuardTest, ADeadExecutionIsTakenOverWhenItsLeaseEnds) {
  Begun first = begin();
  clock_->advance(seconds(29));
  EXPECT_EQ(begin().state, KeyState::in_progress);
  ASSERT_TRUE(guard_.renew(first.record));
  clock_->advance(seconds(29));
  EXPECT_EQ(begin().state, KeyState::in_progress) << "renewed";
  clock_->advance(seconds(1));
  const Begun second = begin();
  EXPECT_EQ(second.state, KeyState::execute);
  EXPECT_NE(second.record.owner, first.record.owner);
  EXPECT_EQ(fault(guard_.renew(first.record)), store::ErrorType::conditional_check_failed);
  EXPECT_EQ(fault(guard_.complete(first.record, "late")), store::ErrorType::conditional_check_failed);
  ASSERT_TRUE(guard_.complete(second.record, "answer"));
  EXPECT_EQ(begin().record.response, "answer");
}

TEST_F(GuardTest, AnExpiredRecordIsFree) {
  const auto short_lived = guard_.begin("PRODUCE", "k", "one", seconds(100));
  ASSERT_TRUE(short_lived);
  ASSERT_TRUE(guard_.complete(short_lived->record, "old"));
  clock_->advance(seconds(99));
  EXPECT_EQ(begin("k", "one").state, KeyState::replay);
  clock_->advance(seconds(1));
  EXPECT_EQ(begin("k", "two").state, KeyState::execute) << "also before it is swept away";
}

TEST_F(GuardTest, NoRecordIsTooOldByAClockThatIsDoubted) {
  ASSERT_TRUE(guard_.complete(begin().record, "answer"));
  const base::TimePoint before = clock_->now();
  clock_->advance(hours(24 * 40));
  base::PlausibleClock doubted(*clock_);
  doubted.note_past(before);
  Guard guard(store_.engine(), doubted, random_, options_);
  const auto again = guard.begin("PRODUCE", "k", "h");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, KeyState::replay);
  clock_->advance(std::chrono::minutes(5));
  EXPECT_EQ(guard.begin("PRODUCE", "k", "h")->state, KeyState::execute) << "the time is right after all";
}

TEST_F(GuardTest, ALeaseThatAClockAheadHasGrantedIsOverWhenItIsSetRight) {
  begin();
  clock_->set_by(-seconds(30));
  EXPECT_EQ(begin().state, KeyState::in_progress);
  clock_->set_by(-hours(24));
  EXPECT_EQ(begin().state, KeyState::execute);
}

// Its lease may end because the clock has jumped, or because the store has taken no renewal.
TEST_F(GuardTest, WhatThisProcessStillExecutesItDoesNotExecuteAgain) {
  auto first = guard_.begin("PRODUCE", "k", "h", seconds(60));
  ASSERT_TRUE(first);
  clock_->advance(seconds(31));
  EXPECT_EQ(begin().state, KeyState::in_progress) << "the lease is over";
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->state, KeyState::in_progress);
  clock_->advance(hours(24));
  EXPECT_EQ(begin().state, KeyState::in_progress) << "the record has expired";
  EXPECT_EQ(begin("k", "other").state, KeyState::in_progress);
  store::DeleteItemRequest remove;
  remove.table_name = options_.table;
  remove.key = {{"pk", "PRODUCE#k"}};
  ASSERT_TRUE(store_.engine().delete_item(remove));
  EXPECT_EQ(begin().state, KeyState::in_progress) << "the record is gone";
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->state, KeyState::in_progress);
  EXPECT_EQ(begin("another key").state, KeyState::execute);
  first->mark.reset();
  EXPECT_EQ(begin().state, KeyState::execute);
}

TEST_F(GuardTest, AProcessDoesNotAnswerForOthers) {
  const auto first = guard_.begin("PRODUCE", "k", "h");
  ASSERT_TRUE(first);
  clock_->advance(seconds(31));
  Guard other(store_.engine(), *clock_, random_, options_);
  const auto second = other.begin("PRODUCE", "k", "h");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state, KeyState::execute) << "the first may be dead";
  ASSERT_TRUE(other.complete(second->record, "answer"));
  EXPECT_EQ(begin().record.response, "answer") << "also where the first has not noticed yet";
}

TEST_F(GuardTest, WhatIsCompletedOrHasFailedIsExecutedNoLonger) {
  const auto first = guard_.begin("PRODUCE", "k", "h");
  ASSERT_TRUE(guard_.fail(first->record));
  const auto second = guard_.begin("PRODUCE", "k", "h", seconds(60));
  ASSERT_EQ(second->state, KeyState::execute) << "the caller of the first has not gone yet";
  ASSERT_TRUE(guard_.complete(second->record, "answer"));
  clock_->advance(seconds(60));
  EXPECT_EQ(begin().state, KeyState::execute);
}

TEST_F(GuardTest, ALookTakesNothing) {
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->state, KeyState::execute);
  EXPECT_TRUE(store_.scan(options_.table).empty());
  const Begun begun = begin();
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->state, KeyState::in_progress);
  EXPECT_EQ(guard_.look("PRODUCE", "k", "x")->state, KeyState::other_request);
  ASSERT_TRUE(guard_.complete(begun.record, "answer"));
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->record.response, "answer");
}

TEST_F(GuardTest, AnExecutionThatIsOneTransactionCompletesWithIt) {
  const auto write = [&](const Record& record, const std::string& response) {
    store::TransactWriteItemsRequest request;
    request.actions.emplace_back(guard_.completion(record, response));
    return store_.engine().transact_write_items(request).has_value();
  };
  const Record fresh = guard_.new_record("PRODUCE", "k", "h", std::nullopt);
  EXPECT_TRUE(write(fresh, "first"));
  EXPECT_FALSE(write(fresh, "second")) << "somebody has the key";
  EXPECT_EQ(begin().record.response, "first");

  const Begun begun = begin("begun");
  EXPECT_FALSE(write(guard_.new_record("PRODUCE", "begun", "h", std::nullopt), "foreign"));
  EXPECT_TRUE(write(begun.record, "own"));
  EXPECT_EQ(begin("begun").record.response, "own");
}

TEST_F(GuardTest, ADamagedRecordIsNeitherExecutedNorAnsweredAndSaysWhy) {
  store::PutItemRequest put;
  put.table_name = options_.table;
  put.item = {{"pk", "PRODUCE#k"}, {"status", "LOST"}};
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_EQ(begin().state, KeyState::unreadable);
  EXPECT_EQ(guard_.look("PRODUCE", "k", "h")->state, KeyState::unreadable);
  EXPECT_EQ(begin().fault, "an idempotency record lacks its status, key or request hash");
}

// Each of these would let a request be executed twice, or be answered with nothing.
TEST_F(GuardTest, ARecordWithOneWrongAttributeIsDamaged) {
  const Begun begun = begin();
  ASSERT_TRUE(guard_.complete(begun.record, "answer"));
  store::PutItemRequest put;
  put.table_name = options_.table;
  const item::Item good = store_.scan(options_.table).at(0);
  const auto state_with = [&](const std::string& name, const item::AttributeValue& value) {
    put.item = good;
    put.item.set(name, value);
    EXPECT_TRUE(store_.engine().put_item(put));
    return begin().state;
  };
  EXPECT_EQ(state_with("another", "attribute"), KeyState::replay);
  EXPECT_EQ(state_with("expiresAt", "yesterday"), KeyState::unreadable);
  EXPECT_EQ(state_with("expiresAt", 1), KeyState::unreadable);
  EXPECT_EQ(state_with("leaseUntil", "soon"), KeyState::unreadable);
  EXPECT_EQ(state_with("responsePayload", item::Binary{"answer"}), KeyState::unreadable);
  EXPECT_EQ(state_with("progress", 5), KeyState::unreadable);
  EXPECT_EQ(state_with("responseParts", "1"), KeyState::unreadable);
  EXPECT_EQ(state_with("responseParts", 0), KeyState::unreadable);
  EXPECT_EQ(state_with("responseParts", 1'000'000), KeyState::unreadable);
  EXPECT_EQ(state_with("responseParts", 1), KeyState::unreadable) << "there is no such part";
  EXPECT_EQ(state_with("another", "attribute"), KeyState::replay) << "it was mended";
}

TEST_F(GuardTest, ALargeAnswerIsReadWhereThereIsMemoryForIt) {
  options_.answers = std::make_shared<base::MemoryBudget>(2 << 20);
  Guard guard(store_.engine(), *clock_, random_, options_);
  const std::string answer(1 << 20, 'x');
  ASSERT_TRUE(guard.complete(begin().record, answer));
  auto others = options_.answers->take(1 << 20);
  EXPECT_EQ(guard.begin("PRODUCE", "k", "h")->state, KeyState::no_room);
  others = {};
  const auto begun = guard.begin("PRODUCE", "k", "h");
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->state, KeyState::replay);
  EXPECT_EQ(begun->record.response, answer);
  EXPECT_GE(options_.answers->taken(), answer.size());
}

}  // namespace
}  // namespace postino::idempotency
