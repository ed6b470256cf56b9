// The writer as a process of its own, whose announcements outlive it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace postino::crash {

class WriterProcess {
 public:
  // The first argument is the program.
  explicit WriterProcess(const std::vector<std::string>& arguments);
  // Kills it, if it still runs.
  ~WriterProcess();
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  // The next announcement, waiting for it. Nothing once the writer is gone and everything it announced has been read.
  std::optional<std::string> next_line();

  // SIGKILL: the process does nothing more. What it announced can still be read. False when it had ended by itself.
  bool kill();

 private:
  pid_t process_ = -1;  // -1 once it is gone
  int pipe_ = -1;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the first unread line in the buffer
};

}  // namespace postino::crash
