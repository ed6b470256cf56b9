// Postino's outbox as users run it: a server with its own data, synced, that sends to an SMTP server.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/client.h"
#include "http_load.h"
#include "server_process.h"

namespace postino::bench {

// What all contestants are given: the text of a message, without its headers, as it goes over the wire.
inline constexpr std::size_t message_bytes = 4'096;

// One e-mail, for POST /emails; or several of the same text in one request.
ApiRequest email_request(std::uint64_t number, std::optional<base::TimePoint> send_at = std::nullopt, int emails = 1);

// Ends the process with a message when there were failures.
void expect_success(const LoadResult& result, const char* what);

class OutboxServer {
 public:
  OutboxServer(const std::filesystem::path& program, const std::filesystem::path& data, std::uint16_t smtp_port,
               const std::vector<std::string>& more_flags = {});

  std::uint16_t port() const { return server_.port(); }
  pid_t process() const { return server_.process(); }
  double resident_megabytes() const { return server_.resident_megabytes(); }
  double peak_megabytes() const { return server_.peak_megabytes(); }
  int threads() const { return server_.threads(); }
  std::chrono::duration<double, std::milli> start_time() const { return server_.start_time(); }

  // The body of the answer; the process ends when it is not 200.
  std::string get(const std::string& target) const;

  // How many e-mails are in one of these states.
  std::int64_t count(std::initializer_list<std::string_view> states) const;
  // Looks every few milliseconds. Ends the process with a message when it takes too long.
  void await_none(std::initializer_list<std::string_view> states) const;

 private:
  OutboxServer(std::uint16_t port, const std::filesystem::path& program, const std::filesystem::path& data,
               std::uint16_t smtp_port, const std::vector<std::string>& more_flags);

  ServerProcess server_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace postino::bench
