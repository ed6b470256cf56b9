#include "smtp_sink_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "child_process.h"
#include "net/local_ports_testing.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* program = "/usr/sbin/smtp-sink";
constexpr std::chrono::seconds sink_patience(30);

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "bench: smtp-sink %s\n", what);
  std::exit(1);
}

// The last whole "mesg=123" of what the counters printed; each line ends with a carriage return.
std::uint64_t last_count(std::string_view text, std::uint64_t before) {
  static constexpr std::string_view name = "mesg=";
  const std::size_t end = text.rfind('\r');
  const std::size_t found = end == std::string_view::npos ? end : text.rfind(name, end);
  if (found == std::string_view::npos) return before;
  std::string_view digits = text.substr(found + name.size());
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), before);
  return before;
}

}  // namespace

bool SmtpSinkProcess::is_installed() { return std::filesystem::exists(program); }

SmtpSinkProcess::SmtpSinkProcess() : port_(net::free_port()) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) give_up("cannot be given a pipe");
  std::vector<std::string> command = {program, "-c"};
  if (::geteuid() == 0) command.insert(command.end(), {"-u", "nobody"});
  command.insert(command.end(), {"127.0.0.1:" + std::to_string(port_), "1000"});
  process_ = start_program(command, pipe[1]);
  ::close(pipe[1]);
  const auto begin = Clock::now();
  while (!net::is_listening(port_)) {
    if (!is_running(process_) || Clock::now() - begin > sink_patience) give_up("did not start");
    ::poll(nullptr, 0, 1);
  }
  reader_ = std::thread([this, source = pipe[0]] { follow_counters(source); });
}

SmtpSinkProcess::~SmtpSinkProcess() {
  end(process_);
  reader_.join();
}

// Reads now and then, not for every message: the reader must not cost the machine much.
void SmtpSinkProcess::follow_counters(int pipe) {
  std::array<char, 64 << 10> chunk;
  std::string text;
  while (true) {
    const ssize_t count = ::read(pipe, chunk.data(), chunk.size());
    if (count <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
    received_ = last_count(text, received_);
    text.erase(0, text.rfind('\r') + 1);
    ::poll(nullptr, 0, 2);
  }
  ::close(pipe);
}

Clock::time_point SmtpSinkProcess::await(std::uint64_t count) const {
  std::uint64_t seen = received_;
  auto last = Clock::now();
  while (seen < count) {
    ::poll(nullptr, 0, 1);
    const std::uint64_t now_seen = received_;
    if (now_seen != seen) last = Clock::now();
    seen = now_seen;
    if (Clock::now() - last > sink_patience) give_up("got no mail for too long");
  }
  return last;
}

}  // namespace postino::bench
