#include "child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace postino::bench {

namespace {

void become_child(std::optional<int> output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(output.value_or(nowhere), STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

struct Usage {
  pid_t parent = -1;
  double own = 0;
  double of_ended_children = 0;
};

// Fields of /proc/PID/stat; the second one, the name in brackets, may have blanks in it.
std::optional<Usage> usage_of(const std::filesystem::path& directory) {
  std::ifstream file(directory / "stat");
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  Usage usage;
  std::string skipped;
  double user = 0;
  double system = 0;
  double children_user = 0;
  double children_system = 0;
  fields >> skipped >> usage.parent;
  for (int i = 5; i <= 13; ++i) fields >> skipped;
  fields >> user >> system >> children_user >> children_system;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  usage.own = (user + system) / ticks;
  usage.of_ended_children = (children_user + children_system) / ticks;
  return usage;
}

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

}  // namespace

pid_t start_program(const std::vector<std::string>& command, std::optional<int> output) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  become_child(output);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

pid_t start_function(const std::function<void()>& function) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  become_child(std::nullopt);
  function();
  ::_exit(0);
}

bool await_end(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void end(pid_t process) {
  ::kill(process, SIGTERM);
  ::waitpid(process, nullptr, 0);
}

bool is_running(pid_t process) { return ::waitpid(process, nullptr, WNOHANG) == 0; }

double cpu_seconds(pid_t process) {
  double seconds = 0;
  std::error_code gone;  // processes come and go meanwhile
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (!is_number(name)) continue;
    const std::optional<Usage> usage = usage_of(entry.path());
    if (!usage) continue;
    if (name == std::to_string(process)) seconds += usage->own + usage->of_ended_children;
    if (usage->parent == process) seconds += usage->own;
  }
  return seconds;
}

}  // namespace postino::bench
