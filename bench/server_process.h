// Servers to be measured, each in a process of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace postino::bench {

class ServerProcess {
 public:
  // Runs a program and waits until something listens on the port.
  ServerProcess(const std::vector<std::string>& command, std::uint16_t port);
  // Runs a function in a child instead; call it before this process has threads.
  ServerProcess(const std::function<void()>& serve, std::uint16_t port);
  // SIGTERM, and waits.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const { return port_; }
  // From the start to the first answer.
  std::chrono::duration<double, std::milli> start_time() const { return start_time_; }
  double resident_megabytes() const;
  double peak_megabytes() const;  // the most that was resident so far
  int threads() const;
  pid_t process() const { return process_; }

 private:
  void wait_for_port();

  pid_t process_ = -1;
  std::uint16_t port_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::duration<double, std::milli> start_time_{};
};

}  // namespace postino::bench
