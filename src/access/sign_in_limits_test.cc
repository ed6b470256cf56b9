#include "access/sign_in_limits.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

namespace postino::access {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class SignInLimitsTest : public testing::Test {
 protected:
  bool may_try(const std::string& name = "anna", const std::string& address = "192.0.2.1") {
    return !limits_.begin(name, address);
  }
  base::Milliseconds pause(const std::string& name = "anna", const std::string& address = "192.0.2.1") {
    return limits_.begin(name, address).value_or(base::Milliseconds(0));
  }

  base::ManualClock clock_{base::from_epoch_milliseconds(1'700'000'000'000)};
  SignInLimits limits_{clock_, {}};
};

TEST_F(SignInLimitsTest, AFewMistakesCostNothing) {
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(may_try()) << i;
  EXPECT_FALSE(may_try());
}

TEST_F(SignInLimitsTest, PausesDoubleUpToAMinuteForAName) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try());
  for (const auto expected :
       {seconds(1), seconds(2), seconds(4), seconds(8), seconds(16), seconds(32), seconds(60), seconds(60)}) {
    EXPECT_EQ(pause(), expected);
    clock_.advance(expected - base::Milliseconds(1));
    EXPECT_EQ(pause(), base::Milliseconds(1)) << "asking in a pause makes it neither longer nor shorter";
    clock_.advance(base::Milliseconds(1));
    EXPECT_TRUE(may_try());
  }
}

TEST_F(SignInLimitsTest, ANameIsSlowedDownWhicheverAddressTries) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try("anna", "192.0.2." + std::to_string(i)));
  EXPECT_FALSE(may_try("anna", "198.51.100.9"));
  EXPECT_TRUE(may_try("berta", "198.51.100.9"));
}

TEST_F(SignInLimitsTest, AnAddressIsSlowedDownWhicheverNamesItTries) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(may_try("user" + std::to_string(i)));
  EXPECT_EQ(pause("another"), seconds(1));
  EXPECT_TRUE(may_try("another", "198.51.100.9"));
}

TEST_F(SignInLimitsTest, SuccessClearsTheNameButNotTheAddress) {
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(may_try("guessed" + std::to_string(round))) << round;
    ASSERT_TRUE(may_try("own"));
    limits_.succeeded("own", "192.0.2.1");
  }
  ASSERT_TRUE(may_try("guessed6"));
  ASSERT_TRUE(may_try("guessed6"));
  EXPECT_FALSE(may_try("guessed6")) << "20 failures, whatever succeeded between them";
  EXPECT_TRUE(may_try("own")) << "who has signed in there is not kept out";
}

TEST_F(SignInLimitsTest, FailuresAreForgottenAfterAnHour) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try());
  clock_.advance(hours(1));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(may_try()) << i;
}

TEST_F(SignInLimitsTest, SettingTheClockEndsNoPause) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try());
  clock_.set_by(hours(2));
  EXPECT_FALSE(may_try());
}

TEST_F(SignInLimitsTest, RemembersABoundedNumber) {
  SignInLimits few(clock_, {.most_remembered = 2});
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(few.begin("first", "a"));
  ASSERT_TRUE(few.begin("first", "a"));
  ASSERT_FALSE(few.begin("second", "b"));
  ASSERT_FALSE(few.begin("third", "c"));
  EXPECT_FALSE(few.begin("first", "a")) << "the oldest was forgotten";
  for (const std::string home : {"a", "b", "c"}) few.succeeded("anna", home);
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(few.begin("anna", "d"));
  EXPECT_FALSE(few.begin("anna", "c"));
  EXPECT_TRUE(few.begin("anna", "a")) << "and so was the oldest home";
}

TEST_F(SignInLimitsTest, OthersDoNotKeepAUserOutWhereTheUserHasSignedIn) {
  ASSERT_TRUE(may_try("anna", "198.51.100.9"));
  limits_.succeeded("anna", "198.51.100.9");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try("anna", "192.0.2." + std::to_string(i)));
  EXPECT_FALSE(may_try("anna", "192.0.2.99"));
  EXPECT_TRUE(may_try("anna", "198.51.100.9"));
  limits_.succeeded("anna", "198.51.100.9");
  EXPECT_FALSE(may_try("anna", "192.0.2.99")) << "a success at home does not help those elsewhere";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(may_try("anna", "198.51.100.9"));
  EXPECT_EQ(pause("anna", "198.51.100.9"), seconds(1)) << "guessing is slowed down there too";
  EXPECT_TRUE(may_try("berta", "198.51.100.9")) << "another name there is not";
}

// Names are what callers send.
TEST_F(SignInLimitsTest, NoNameStandsForTheHomeOfAnother) {
  ASSERT_TRUE(may_try("anna", "198.51.100.9"));
  limits_.succeeded("anna", "198.51.100.9");
  for (const std::string name : {"198.51.100.9\nanna", "anna\n198.51.100.9"})
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(may_try(name, "192.0.2." + std::to_string(i)));
  EXPECT_TRUE(may_try("anna", "198.51.100.9"));
}

TEST_F(SignInLimitsTest, TenThousandAttemptsTakeDays) {
  int tried = 0;
  const base::Milliseconds begin = clock_.monotonic();
  while (tried < 10'000) {
    const auto wait = limits_.begin("anna", "192.0.2." + std::to_string(tried % 250));
    if (!wait)
      ++tried;
    else
      clock_.advance(*wait);
  }
  EXPECT_GT(clock_.monotonic() - begin, hours(24 * 6));
}

TEST(SignInLimitsConcurrentTest, ManyAttemptsAtOnceDoNotAllPass) {
  base::ManualClock clock{base::from_epoch_milliseconds(1'700'000'000'000)};
  SignInLimits limits(clock, {});
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 100; ++j)
        if (!limits.begin("anna", std::to_string(i))) ++passed;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, 5);
}

}  // namespace
}  // namespace postino::access
