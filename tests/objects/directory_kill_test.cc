// A process that writes objects is killed: what it had announced is there, and nothing is there in part.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/effort_testing.h"
#include "base/temporary_directory.h"
#include "objects/directory_objects.h"

namespace postino::objects {
namespace {

std::string contents_of(int number) { return std::string(20'000 + number, static_cast<char>('a' + number % 26)); }
std::string name_of(int number) { return "folder" + std::to_string(number % 3) + "/" + std::to_string(number % 50); }

// Puts one after the other, and tells the number of each that is done.
[[noreturn]] void write_until_killed(const std::filesystem::path& path, int announcements) {
  const base::SystemClock clock;
  base::SystemRandom random;
  const auto objects = DirectoryObjects::open(path, "bucket", clock, random);
  for (int number = 0;; ++number) {
    CHECK((*objects)->put(name_of(number), contents_of(number)).has_value());
    CHECK(::write(announcements, &number, sizeof number) == sizeof number);
    if (number % 7 == 0) CHECK((*objects)->remove("folder0/none").has_value());
  }
}

TEST(DirectoryThatIsKilled, HasWhatWasAnnounced) {
  const base::TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "objects";
  const base::SystemClock clock;
  base::SystemRandom random;
  for (int round = 0; round < 10 * base::test_effort(); ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(path, ends[1]);
    ::close(ends[1]);
    int last = -1;
    const int wanted = 1 + static_cast<int>(random.next() % 60);
    for (int number = 0; last < wanted && ::read(ends[0], &number, sizeof number) == sizeof number;) last = number;
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (int number = 0; ::read(ends[0], &number, sizeof number) == sizeof number;) last = number;
    ::close(ends[0]);

    const auto objects = DirectoryObjects::open(path, "bucket", clock, random).value();
    for (int number = std::max(0, last - 49); number <= last; ++number) {
      const auto got = objects->get(name_of(number));
      ASSERT_TRUE(got) << got.error().message;
      // The next one of the same name may have been done, and not announced.
      EXPECT_TRUE(*got == contents_of(number) || *got == contents_of(number + 150)) << number;
    }
    const ObjectPage listed = objects->list("", "", most_listed).value();
    for (const ObjectInfo& object : listed.objects) {
      const std::string bytes = objects->get(object.name).value();
      EXPECT_EQ(bytes, contents_of(static_cast<int>(bytes.size()) - 20'000)) << "in part: " << object.name;
    }
  }
}

}  // namespace
}  // namespace postino::objects
