#include "dynalite_server.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>

#include "base/check.h"

namespace postino::remote {

namespace {

// All of it when it ends, or else as far as the end of the first line.
std::string read_line(int pipe) {
  std::string text;
  char bytes[4'096];
  while (!text.ends_with('\n')) {
    const ssize_t count = ::read(pipe, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

const DynaliteServer& DynaliteServer::shared() {
  static const DynaliteServer server;
  return server;
}

DynaliteServer::DynaliteServer() {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  process_ = ::fork();
  CHECK(process_ >= 0);
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl(DYNALITE, DYNALITE, nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  const std::string line = read_line(ends[0]);
  ::close(ends[0]);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), port);
  if (error == std::errc() && *end == '\n')
    port_ = port;
  else
    problem_ = line.empty() ? "dynalite ended without a word" : line;
}

DynaliteServer::~DynaliteServer() {
  ::kill(process_, SIGKILL);
  int status = 0;
  ::waitpid(process_, &status, 0);
}

}  // namespace postino::remote
