// A real MariaDB for tests: a process with a directory, a socket and settings of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "mysql/server_options.h"

namespace postino::mysql {

struct MariadbOptions {
  bool tcp = false;                    // also listens on a free port of 127.0.0.1
  std::vector<std::string> arguments;  // for mariadbd, for example "--max-connections=3"
};

// Started by the constructor, killed by the destructor. It does not outlive the thread that started it, however that
// ends. Commits are synced. Ends the process when the server does not start.
class MariadbServer {
 public:
  explicit MariadbServer(MariadbOptions options = {});
  ~MariadbServer();
  MariadbServer(const MariadbServer&) = delete;
  MariadbServer& operator=(const MariadbServer&) = delete;

  // One for all tests of this process, because starting takes seconds. Not for those who kill or stop it. To be
  // started by the main thread.
  static MariadbServer& shared();

  // As root through the socket, without a password.
  ServerOptions options(const std::string& database = {}) const;
  // The same through TCP, without TLS.
  ServerOptions tcp_options(const std::string& database = {}) const;
  // The options for a new, empty database with a name of its own.
  ServerOptions new_database();

  void kill();  // SIGKILL
  void stop();  // orderly
  // After kill() or stop(). Returns when it answers.
  void start();
  bool running() const { return process_ != 0; }
  // SIGSTOP and SIGCONT: a server that is there and says nothing.
  void freeze();
  void thaw();

  // What it wrote to its log.
  std::string log() const;

 private:
  std::vector<std::string> command() const;
  void wait_until_ready(int notifications);
  void wait_for_end();

  const base::TemporaryDirectory directory_;
  const MariadbOptions options_;
  std::uint16_t port_ = 0;
  pid_t process_ = 0;
  int databases_ = 0;
};

}  // namespace postino::mysql
