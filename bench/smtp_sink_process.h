// Postfix's smtp-sink: takes mail, throws it away, and tells how much there was.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace postino::bench {

class SmtpSinkProcess {
 public:
  static bool is_installed();

  // Returns when it takes connections.
  SmtpSinkProcess();
  ~SmtpSinkProcess();
  SmtpSinkProcess(const SmtpSinkProcess&) = delete;
  SmtpSinkProcess& operator=(const SmtpSinkProcess&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint64_t received() const { return received_; }
  // Waits until there are that many since the start, and says when the last one came, to two milliseconds. Ends the
  // process with a message when none comes for a long time.
  std::chrono::steady_clock::time_point await(std::uint64_t count) const;

 private:
  void follow_counters(int pipe);

  std::uint16_t port_;
  pid_t process_ = -1;
  std::atomic<std::uint64_t> received_ = 0;
  std::thread reader_;
};

}  // namespace postino::bench
