#include "remote/credentials/program_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/descriptor.h"

namespace postino::remote {

namespace {

using ProgramEnd = std::chrono::steady_clock::time_point;

base::Error program_error(const std::string& program, const std::string& what,
                          base::ErrorCode code = base::ErrorCode::io) {
  return {code, "the program " + program + " " + what};
}

// What a program is started with: its three standard streams and nothing else of ours.
class SpawnPlan {
 public:
  explicit SpawnPlan(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    // The server waits for signals and ignores some; a program expects them as usual. A group of its own can be killed
    // with all that it has started.
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0, or the number of the error.
  int start(pid_t& process, std::vector<std::string> words) const {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (char** each = ::environ; *each != nullptr; ++each)
      if (!std::string_view(*each).starts_with("POSTINO_")) variables.push_back(*each);
    variables.push_back(nullptr);
    return ::posix_spawnp(&process, arguments.front(), &actions_, &attributes_, arguments.data(), variables.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// A program that has been started. It has ended when this has.
class RunningProgram {
 public:
  RunningProgram(pid_t process, base::Descriptor output)
      : process_(process),
        ended_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
        output_(std::move(output)) {}
  ~RunningProgram() {
    if (process_ > 0) finish(true);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Until the program has ended. What it has started in the background may go on, and is not waited for. False when a
  // limit was exceeded.
  bool collect(std::string& collected, std::size_t most, ProgramEnd end) {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      std::array<pollfd, 2> events = {{{ended_.number(), POLLIN, 0}, {output_.number(), POLLIN, 0}}};
      if (::poll(events.data(), events.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
      if (events[1].revents != 0 && !read_all(collected, most)) return false;
      if (events[0].revents != 0) return read_all(collected, most);
      if (!ended_ && !output_) return true;  // a system that does not tell: the end of the output has to do
    }
  }

  // The status as waitpid() has it.
  int finish(bool is_killed) {
    // Before the process is waited for: afterwards its number may be another one's.
    if (is_killed) ::kill(-process_, SIGKILL);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

 private:
  // What is there now. False when it is too much.
  bool read_all(std::string& collected, std::size_t most) {
    std::array<char, 4'096> buffer;
    while (output_) {
      const ssize_t count = ::read(output_.number(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && base::is_temporary(errno)) return true;
      if (count <= 0) output_.reset();
      if (count > 0) collected.append(buffer.data(), static_cast<std::size_t>(count));
      if (collected.size() > most) return false;
    }
    return true;
  }

  pid_t process_;
  const base::Descriptor ended_;
  base::Descriptor output_;
};

class MachinePrograms final : public ProgramRunner {
 public:
  base::Result<std::string> run(const std::vector<std::string>& words, const ProgramLimits& limits) override {
    if (words.empty() || words.front().empty()) return base::invalid("there is no program to run");
    const std::string& program = words.front();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(base::ErrorCode::io, std::strerror(errno));
    base::Descriptor output(ends[0]);
    base::Descriptor input(ends[1]);
    ::fcntl(output.number(), F_SETFL, O_NONBLOCK);
    pid_t process = 0;
    if (const int error = SpawnPlan(input.number()).start(process, words); error != 0)
      return base::propagate(program_error(program, std::string("could not be started: ") + std::strerror(error)));
    input.reset();
    RunningProgram running(process, std::move(output));
    std::string collected;
    const bool is_done =
        running.collect(collected, limits.output_bytes, std::chrono::steady_clock::now() + limits.time);
    const int status = running.finish(!is_done);
    if (!is_done && collected.size() > limits.output_bytes)
      return base::propagate(program_error(program, "printed too much", base::ErrorCode::exhausted));
    if (!is_done) return base::propagate(program_error(program, "took too long", base::ErrorCode::exhausted));
    if (WIFSIGNALED(status))
      return base::propagate(program_error(program, "was ended by signal " + std::to_string(WTERMSIG(status))));
    if (WEXITSTATUS(status) != 0)
      return base::propagate(program_error(program, "has failed with " + std::to_string(WEXITSTATUS(status))));
    return collected;
  }
};

}  // namespace

std::unique_ptr<ProgramRunner> machine_programs() { return std::make_unique<MachinePrograms>(); }

}  // namespace postino::remote
