// Executions that happen once, with records that several processes share.
#include <gmock/gmock.h>

#include "engine/embedded_store_testing.h"
#include "idempotency/guard.h"
#include "idempotency/lease_keeper.h"
#include "store/shared_store_testing.h"

namespace postino::idempotency {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class SharedGuardTest : public testing::Test {
 protected:
  SharedGuardTest() { EXPECT_TRUE(prepare_tables(embedded_.engine(), "once")); }

  // Of a process with this clock of its own.
  std::unique_ptr<Guard> guard(const base::Clock& own, seconds lease = seconds(30)) {
    GuardOptions options{"once", hours(24), lease};
    options.shared_clock = clock_;
    return std::make_unique<Guard>(store_, own, random_, std::move(options));
  }
  static Begun begin(Guard& guard, const std::string& owner = "") {
    auto begun = guard.begin("PRODUCE", "k", "h", std::nullopt, owner);
    EXPECT_TRUE(begun) << begun.error().message;
    return begun ? *std::move(begun) : Begun();
  }
  store::ErrorType type_of(const store::Answer<void>& answer) {
    EXPECT_FALSE(answer);
    return answer ? store::ErrorType::validation : answer.error().type;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore embedded_{clock_};
  store::SharedStore store_{embedded_.engine()};
  base::SeededRandom random_{9};
};

TEST_F(SharedGuardTest, LeasesGoByTheClockThatAllHave) {
  const base::ManualClock ahead(engine::embedded_start + seconds(60));
  const base::ManualClock behind(engine::embedded_start - minutes(60));
  const auto first = guard(behind);
  const auto second = guard(ahead);
  const Begun begun = begin(*first);
  EXPECT_EQ(begun.state, KeyState::execute);
  EXPECT_EQ(begin(*second).state, KeyState::in_progress);
  clock_->advance(milliseconds(29'999));
  EXPECT_EQ(begin(*second).state, KeyState::in_progress);
  clock_->advance(milliseconds(1));
  EXPECT_EQ(begin(*second).state, KeyState::execute);
}

TEST_F(SharedGuardTest, AProcessWithAShortLeaseDoesNotTakeALongOneForTheGrantOfAWrongClock) {
  const auto patient = guard(*clock_, minutes(30));
  const auto hasty = guard(*clock_, seconds(1));
  const Begun begun = begin(*patient);
  EXPECT_EQ(begin(*hasty).state, KeyState::in_progress);
  clock_->advance(minutes(30) - seconds(1));
  EXPECT_EQ(begin(*hasty).state, KeyState::in_progress);
  clock_->advance(seconds(1));
  EXPECT_EQ(begin(*hasty).state, KeyState::execute);
}

TEST_F(SharedGuardTest, ClocksThatDifferByMinutesDoNotStealFromEachOther) {
  GuardOptions options{"once", hours(24), seconds(30)};
  const base::ManualClock ahead(engine::embedded_start + minutes(2));
  Guard first(store_, ahead, random_, options);
  Guard second(store_, *clock_, random_, options);
  const Begun begun = begin(first);
  EXPECT_EQ(begin(second).state, KeyState::in_progress);
  // A clock that was ahead by days would keep the key for good.
  const base::ManualClock far_ahead(engine::embedded_start + hours(48));
  Guard third(store_, far_ahead, random_, options);
  const Begun other = begin(third);
  EXPECT_EQ(other.state, KeyState::execute) << "by its clock the lease is over";
  EXPECT_EQ(begin(second).state, KeyState::execute);
}

TEST_F(SharedGuardTest, ARecordWhoseAnswerWasLostIsOnesOwn) {
  const auto first = guard(*clock_);
  store_.lose_answers(1);
  const Begun begun = begin(*first);
  EXPECT_EQ(begun.state, KeyState::execute);
  EXPECT_FALSE(begun.record.owner.empty());
  const auto second = guard(*clock_);
  EXPECT_EQ(begin(*second).state, KeyState::in_progress);
  EXPECT_TRUE(first->complete(begun.record, "answer"));
  EXPECT_EQ(begin(*second).record.response, "answer");
}

TEST_F(SharedGuardTest, ATakeoverWhoseAnswerWasLostIsOnesOwn) {
  const auto first = guard(*clock_);
  Begun dead = begin(*first);
  dead.record.progress = "7";
  ASSERT_TRUE(first->note_progress(dead.record));
  clock_->advance(seconds(30));
  const auto second = guard(*clock_);
  store_.lose_answers(2);  // of the insert, which is refused, and of the takeover
  const Begun begun = begin(*second);
  EXPECT_EQ(begun.state, KeyState::execute);
  EXPECT_EQ(begun.record.progress, "7");
  EXPECT_TRUE(second->complete(begun.record, "answer"));
}

TEST_F(SharedGuardTest, WhoTriesAgainIsTheSameOwner) {
  const auto first = guard(*clock_);
  const std::string owner = first->new_owner();
  ASSERT_EQ(begin(*first, owner).state, KeyState::execute);  // and its answer did not come
  EXPECT_EQ(begin(*first, owner).state, KeyState::execute);
  EXPECT_EQ(begin(*first, first->new_owner()).state, KeyState::in_progress);
}

TEST_F(SharedGuardTest, AnAnswerIsStoredOnceAlsoIfItMustBeRepeated) {
  const auto first = guard(*clock_);
  for (const std::string& response : {std::string("answer"), std::string(400 << 10, 'x')}) {
    const Begun begun = begin(*first);
    ASSERT_EQ(begun.state, KeyState::execute);
    store_.lose_answers(1, "once");
    EXPECT_EQ(type_of(first->complete(begun.record, response)), store::ErrorType::internal_server_error);
    clock_->advance(seconds(1));
    EXPECT_TRUE(first->complete(begun.record, response));
    EXPECT_EQ(begin(*first).record.response, response);
    EXPECT_EQ(type_of(first->complete(begun.record, "another")), store::ErrorType::conditional_check_failed);
    clock_->advance(hours(25));
  }
}

TEST_F(SharedGuardTest, AFailureIsStoredOnceAlsoIfItMustBeRepeated) {
  const auto first = guard(*clock_);
  const Begun begun = begin(*first);
  store_.lose_answers(1);
  EXPECT_FALSE(first->fail(begun.record));
  EXPECT_TRUE(first->fail(begun.record));
}

class SharedLeaseTest : public SharedGuardTest {
 protected:
  const std::unique_ptr<Guard> first_ = guard(*clock_);
  const std::unique_ptr<Guard> second_ = guard(*clock_);
  LeaseKeeper leases_{*first_, *clock_};
};

TEST_F(SharedLeaseTest, AProcessThatWasStoppedFindsThatItsExecutionWasTakenOver) {
  const Begun begun = begin(*first_);
  const auto lease = leases_.hold(begun.record);
  EXPECT_TRUE(lease->confirm());
  clock_->advance(seconds(31));  // it was stopped, and its keeper, too
  EXPECT_EQ(begin(*second_).state, KeyState::execute);
  EXPECT_EQ(type_of(lease->confirm()), store::ErrorType::conditional_check_failed);
  EXPECT_TRUE(lease->is_lost());
  EXPECT_EQ(type_of(lease->confirm()), store::ErrorType::conditional_check_failed) << "and for good";
}

TEST_F(SharedLeaseTest, ALeaseThatNobodyHasTakenIsRenewedBeforeAnEffect) {
  const Begun begun = begin(*first_);
  const auto lease = leases_.hold(begun.record);
  clock_->advance(seconds(31));
  EXPECT_TRUE(lease->confirm());
  EXPECT_EQ(begin(*second_).state, KeyState::in_progress) << "it has its lease again";
  clock_->advance(seconds(29));
  EXPECT_EQ(begin(*second_).state, KeyState::in_progress);
  store_.lose_answers(1);
  EXPECT_EQ(type_of(lease->confirm()), store::ErrorType::internal_server_error) << "it is not known";
  EXPECT_TRUE(lease->confirm());
}

TEST_F(SharedLeaseTest, WhoWasStoppedBeforeItHeldItsLeaseRenewsIt) {
  const Begun begun = begin(*first_);
  clock_->advance(seconds(31));
  ASSERT_EQ(begin(*second_).state, KeyState::execute);
  const auto lease = leases_.hold(begun.record);
  EXPECT_EQ(type_of(lease->confirm()), store::ErrorType::conditional_check_failed);
}

}  // namespace
}  // namespace postino::idempotency
