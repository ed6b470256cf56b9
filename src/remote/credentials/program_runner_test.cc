#include "remote/credentials/program_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/descriptor.h"
#include "base/temporary_directory.h"

namespace postino::remote {
namespace {

class Programs : public ::testing::Test {
 protected:
  base::Result<std::string> run_shell(const std::string& script, ProgramLimits limits = {}) {
    return programs_->run({"/bin/sh", "-c", script}, limits);
  }

  const std::unique_ptr<ProgramRunner> programs_ = machine_programs();
};

TEST_F(Programs, PrintWhatIsTaken) {
  EXPECT_EQ(programs_->run({"printf", "%s-%s", "a b", "$HOME"}, {}), "a b-$HOME");
  EXPECT_EQ(run_shell("cat; printf x; printf secret >&2"), "x");  // there is nothing to read for it
}

TEST_F(Programs, FailWithoutTellingWhatTheyPrinted) {
  const auto failed = run_shell("printf secret; printf secret >&2; exit 3");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the program /bin/sh has failed with 3");
  EXPECT_EQ(failed.error().code, base::ErrorCode::io);
  const auto killed = run_shell("kill -9 $$");
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "the program /bin/sh was ended by signal 9");
  const auto missing = programs_->run({"/there/is/no/such/program"}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::io);
  EXPECT_FALSE(programs_->run({}, {}));
}

TEST_F(Programs, AreKilledWithThoseThatTheyHaveStartedWhenTheyTakeTooLong) {
  const base::TemporaryDirectory directory;
  const std::string pipe = (directory.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const base::Descriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  const auto late =
      run_shell("exec 3>" + pipe + "; tail -f /dev/null & tail -f /dev/null", {std::chrono::milliseconds(200), 100});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, base::ErrorCode::exhausted);
  EXPECT_EQ(late.error().message, "the program /bin/sh took too long");
  // It ends with the last process that has it open for writing.
  constexpr int patience = 120'000;
  pollfd end{reader.number(), POLLIN, 0};
  ::poll(&end, 1, patience);
  char byte = 0;
  EXPECT_EQ(::read(reader.number(), &byte, 1), 0);
}

TEST_F(Programs, AreKilledWhenTheyPrintTooMuch) {
  const auto much = run_shell("while :; do echo much; done", {std::chrono::minutes(2), 1'000});
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().message, "the program /bin/sh printed too much");
}

TEST_F(Programs, AreNotWaitedForInTheBackground) {
  // The one that stays has our pipe, too. It ends by itself when nobody reads any more.
  EXPECT_EQ(run_shell("(while echo; do :; done) 2>/dev/null & exec >/dev/null; exit 0", {}).has_value(), true);
}

TEST_F(Programs, DoNotSeeOurSettings) {
  ::setenv("POSTINO_SMTP_PASSWORD", "secret", 1);
  ::setenv("AWS_REGION_OF_THIS_TEST", "eu-west-1", 1);
  EXPECT_EQ(run_shell("printf \"$AWS_REGION_OF_THIS_TEST:$POSTINO_SMTP_PASSWORD\""), "eu-west-1:");
  ::unsetenv("POSTINO_SMTP_PASSWORD");
  ::unsetenv("AWS_REGION_OF_THIS_TEST");
}

}  // namespace
}  // namespace postino::remote
