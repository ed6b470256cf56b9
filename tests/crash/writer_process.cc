#include "writer_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/check.h"

namespace postino::crash {

WriterProcess::WriterProcess(const std::vector<std::string>& arguments) {
  // Made before the fork, because little is allowed after it.
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  int ends[2];
  CHECK(::pipe(ends) == 0);
  process_ = ::fork();
  CHECK(process_ >= 0);
  if (process_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execv(raw.front(), raw.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

WriterProcess::~WriterProcess() {
  kill();
  ::close(pipe_);
}

std::optional<std::string> WriterProcess::next_line() {
  while (true) {
    const std::size_t end = buffer_.find('\n', begin_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(begin_, end - begin_);
      begin_ = end + 1;
      return line;
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    char bytes[65'536];
    const ssize_t count = ::read(pipe_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    // A line that the kill cut short was never announced.
    if (count <= 0) return std::nullopt;
    buffer_.append(bytes, static_cast<std::size_t>(count));
  }
}

bool WriterProcess::kill() {
  if (process_ < 0) return false;
  ::kill(process_, SIGKILL);
  int status = 0;
  CHECK(::waitpid(process_, &status, 0) == process_);
  process_ = -1;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace postino::crash
