// dynalite: a service that speaks DynamoDB's API, and that nobody here wrote.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace postino::remote {

// One for all tests of a program; it ends with the program. Begin it from the main thread.
class DynaliteServer {
 public:
  static const DynaliteServer& shared();
  ~DynaliteServer();
  DynaliteServer(const DynaliteServer&) = delete;
  DynaliteServer& operator=(const DynaliteServer&) = delete;

  // One where nothing listens, if it could not be started.
  std::uint16_t port() const { return port_; }
  // Why it could not be started, as where npm cannot be reached; empty when it was.
  const std::string& problem() const { return problem_; }

 private:
  DynaliteServer();

  pid_t process_ = -1;
  std::uint16_t port_ = 1;
  std::string problem_;
};

}  // namespace postino::remote
