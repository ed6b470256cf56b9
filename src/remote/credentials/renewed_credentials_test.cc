#include "remote/credentials/renewed_credentials.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace postino::remote {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Answers what the test says, and counts.
class ScriptedSource final : public CredentialSource {
 public:
  using Answer = base::Result<std::optional<ExpiringKeys>>;

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    ++asked;
    return answer();
  }
  std::string describe() const override { return "script"; }
  bool outlives_expiry() const override { return is_stable; }

  std::function<Answer()> answer;
  std::atomic<int> asked = 0;
  bool is_stable = false;
};

class RenewedKeys : public ::testing::Test {
 protected:
  RenewedKeys() {
    auto source = std::make_unique<ScriptedSource>();
    source_ = source.get();
    renewed_ = std::make_unique<RenewedCredentials>(std::move(source), clock_, random_);
  }

  void gives(const std::string& id, std::optional<base::Milliseconds> lasts) {
    source_->answer = [this, id, lasts]() -> ScriptedSource::Answer {
      ExpiringKeys keys{{id, "secret", ""}, std::nullopt};
      if (lasts) keys.expires = clock_.now() + *lasts;
      return keys;
    };
  }
  void fails() {
    source_->answer = []() -> ScriptedSource::Answer { return base::fail(base::ErrorCode::io, "the source is away"); };
  }
  std::string id() {
    const auto keys = renewed_->keys();
    return keys ? keys->id : keys.error().message;
  }

  base::ManualClock clock_{base::TimePoint(hours(24 * 365 * 50))};
  base::SeededRandom random_{1};
  ScriptedSource* source_ = nullptr;
  std::unique_ptr<RenewedCredentials> renewed_;
};

TEST_F(RenewedKeys, AreAskedForOnceWhenTheyNeverExpire) {
  gives("A", std::nullopt);
  EXPECT_EQ(source_->asked, 0);
  EXPECT_EQ(id(), "A");
  clock_.advance(hours(1'000));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 1);
}

TEST_F(RenewedKeys, AreRenewedFiveMinutesBeforeTheyExpire) {
  gives("A", hours(1));
  EXPECT_EQ(id(), "A");
  gives("B", hours(1));
  clock_.advance(minutes(55) - seconds(1));
  EXPECT_EQ(id(), "A");
  clock_.advance(seconds(1));
  EXPECT_EQ(id(), "B");
}

TEST_F(RenewedKeys, ThatHaveLittleTimeAreRenewedAfterHalfOfIt) {
  gives("A", minutes(4));
  EXPECT_EQ(id(), "A");
  gives("B", minutes(4));
  clock_.advance(minutes(2) - seconds(1));
  EXPECT_EQ(id(), "A");
  clock_.advance(seconds(1));
  EXPECT_EQ(id(), "B");
}

TEST_F(RenewedKeys, AreUsedForAsLongAsTheyCountWhenTheSourceFails) {
  gives("A", hours(1));
  EXPECT_EQ(id(), "A");
  fails();
  clock_.advance(minutes(59));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 2);
  clock_.advance(minutes(1));
  EXPECT_EQ(id(), "the source is away");
  gives("B", hours(1));
  clock_.advance(minutes(2));
  EXPECT_EQ(id(), "B");
}

TEST_F(RenewedKeys, ASourceThatFailsIsLeftAloneForAWhile) {
  fails();
  EXPECT_EQ(id(), "the source is away");
  EXPECT_EQ(id(), "the source is away");
  EXPECT_EQ(source_->asked, 1);
  for (int second = 0; second < 3'600; ++second) {
    clock_.advance(seconds(1));
    EXPECT_EQ(id(), "the source is away");
  }
  EXPECT_GE(source_->asked, 60);   // a minute at most
  EXPECT_LE(source_->asked, 140);  // half of one at least, but for the first ones
}

TEST_F(RenewedKeys, OfAMachineAreUsedBeyondTheirTime) {
  source_->is_stable = true;
  gives("A", hours(1));
  EXPECT_EQ(id(), "A");
  fails();
  clock_.advance(hours(2));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 2);
  clock_.advance(minutes(5) - seconds(1));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 2);
  clock_.advance(minutes(5) + seconds(1));
  gives("B", hours(1));
  EXPECT_EQ(id(), "B");
}

TEST_F(RenewedKeys, ThatAreOverWhenTheyComeAreUsed) {
  gives("A", -hours(24));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 1);
  clock_.advance(seconds(10));
  EXPECT_EQ(id(), "A");
  EXPECT_EQ(source_->asked, 2);
}

TEST_F(RenewedKeys, DoNotDependOnAClockThatIsSet) {
  gives("A", hours(1));
  EXPECT_EQ(id(), "A");
  clock_.set_by(hours(24));
  gives("B", hours(1));
  EXPECT_EQ(id(), "A");
  clock_.set_by(-hours(48));
  clock_.advance(minutes(56));
  EXPECT_EQ(id(), "B");
}

TEST_F(RenewedKeys, ThatWereRefusedAreAskedForAgainButNotAtOnceTwice) {
  gives("A", std::nullopt);
  EXPECT_EQ(id(), "A");
  gives("B", std::nullopt);
  renewed_->refused();
  EXPECT_EQ(id(), "A");  // it was asked just now
  clock_.advance(seconds(10));
  EXPECT_EQ(id(), "B");
  EXPECT_EQ(source_->asked, 2);
  clock_.advance(hours(1));
  EXPECT_EQ(id(), "B");
  renewed_->refused();
  fails();
  EXPECT_EQ(id(), "B");  // the refusal may have been a mistake
  EXPECT_EQ(source_->asked, 3);
}

TEST_F(RenewedKeys, AreMissedWithTheNameOfTheirSource) {
  source_->answer = []() -> ScriptedSource::Answer { return std::nullopt; };
  EXPECT_NE(id().find("script"), std::string::npos);
}

TEST_F(RenewedKeys, OneAsksWhileOthersUseTheOldOnesConcurrent) {
  gives("A", hours(1));
  EXPECT_EQ(id(), "A");
  clock_.advance(minutes(56));
  std::mutex mutex;
  std::condition_variable changed;
  bool is_asking = false;
  bool may_answer = false;
  source_->answer = [&]() -> ScriptedSource::Answer {
    std::unique_lock lock(mutex);
    is_asking = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_answer; });
    return ExpiringKeys{{"B", "secret", ""}, std::nullopt};
  };
  std::thread asking([&] { EXPECT_EQ(id(), "B"); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_asking; });
  }
  EXPECT_EQ(id(), "A");
  {
    const std::lock_guard lock(mutex);
    may_answer = true;
  }
  changed.notify_all();
  asking.join();
  EXPECT_EQ(id(), "B");
  EXPECT_EQ(source_->asked, 2);
}

TEST_F(RenewedKeys, AllWaitForTheFirstOnesConcurrent) {
  gives("A", hours(1));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(id(), "A"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source_->asked, 1);
}

}  // namespace
}  // namespace postino::remote
