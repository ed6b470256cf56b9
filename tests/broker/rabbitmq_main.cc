// The main program of tests with RabbitMQ. Its version 3.10 has a fault: now and then it breaks a connection off soon
// after a link is opened (see count_own_breaks). Our client goes on with another connection. It sends again what the
// broker had not confirmed, so a queue may then have messages twice, and tests that count messages fail. Such a failure
// shows nothing about our client: the test is run again, with a server of its own.
//
// The excuse is narrow, so that a fault of ours that makes the broker break off still fails the test. The broker's log
// must name the one reason that only its own fault has. A test is run again twice, and at most four tests of a program
// are. A failure without excuse shows what the broker complained of.
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rabbitmq_server.h"

namespace postino::broker {
namespace {

constexpr int most_runs = 3;
constexpr int most_excused = 4;
constexpr const char* run_variable = "POSTINO_TEST_RUN";

class Excuses final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo& test) override {
    static_cast<void>(test);
    breaks_before_ = RabbitmqServer::own_breaks();
  }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    RabbitmqServer::await_log();
    if (RabbitmqServer::own_breaks() == breaks_before_ || ++count_ > most_excused) {
      all_excused_ = false;
      std::printf("RabbitMQ complained of:\n%s\n", RabbitmqServer::complaints().c_str());
      return;
    }
    if (!excused_.empty()) excused_ += ':';
    excused_ += std::string(test.test_suite_name()) + "." + test.name();
  }

  // The tests that may be run again. None if other tests failed as well.
  std::string excused() const { return all_excused_ ? excused_ : ""; }

 private:
  std::size_t breaks_before_ = 0;
  bool all_excused_ = true;
  int count_ = 0;
  std::string excused_;
};

int run_again(const std::string& tests, int run) {
  ::setenv(run_variable, std::to_string(run).c_str(), 1);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=" + tests;
  char* const arguments[] = {program.data(), filter.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return 1;
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace postino::broker

int main(int argc, char** argv) {
  using namespace postino::broker;
  ::testing::InitGoogleMock(&argc, argv);
  auto* const excuses = new Excuses;
  ::testing::UnitTest::GetInstance()->listeners().Append(excuses);
  const int result = RUN_ALL_TESTS();
  const std::string tests = excuses->excused();
  const char* const runs_before = std::getenv(run_variable);
  const int run = runs_before == nullptr ? 1 : std::atoi(runs_before);
  if (result == 0 || tests.empty() || run == most_runs) return result;
  std::printf("RabbitMQ broke off by itself; running again: %s\n", tests.c_str());
  std::fflush(stdout);
  return run_again(tests, run + 1);
}
