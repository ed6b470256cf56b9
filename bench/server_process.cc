#include "server_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "child_process.h"

namespace postino::bench {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Asks for the health page and reads the beginning of the answer.
bool answers(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  bool answered = false;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    static constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    char first = 0;
    answered = ::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()) &&
               ::recv(socket, &first, 1, 0) == 1;
  }
  ::close(socket);
  return answered;
}

// The number after the name in /proc/PID/status.
double status_number(pid_t process, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  std::string word;
  double number = 0;
  while (file >> word)
    if (word == name) {
      file >> number;
      break;
    }
  return number;
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& command, std::uint16_t port)
    : process_(start_program(command)), port_(port) {
  wait_for_port();
}

ServerProcess::ServerProcess(const std::function<void()>& serve, std::uint16_t port)
    : process_(start_function(serve)), port_(port) {
  wait_for_port();
}

ServerProcess::~ServerProcess() { end(process_); }

void ServerProcess::wait_for_port() {
  constexpr std::chrono::seconds patience(20);
  while (!answers(port_)) {
    if (std::chrono::steady_clock::now() - begin_ > patience || !is_running(process_)) {
      std::fprintf(stderr, "bench: a server did not start\n");
      std::exit(1);
    }
    ::poll(nullptr, 0, 1);
  }
  start_time_ = std::chrono::steady_clock::now() - begin_;
}

double ServerProcess::resident_megabytes() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double ServerProcess::peak_megabytes() const { return status_number(process_, "VmHWM:") / (1 << 10); }

int ServerProcess::threads() const { return static_cast<int>(status_number(process_, "Threads:")); }

}  // namespace postino::bench
