// A client that keeps some connections busy, each with one request at a time, from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rounds.h"

namespace postino::bench {

// Sixteen digits that become another number every time a request is sent.
inline constexpr std::string_view fresh_number = "@@@@@@@@@@@@@@@@";

// The next request: to DynamoDB's API when it has an X-Amz-Target, and just JSON otherwise.
struct ApiRequest {
  std::string target;
  std::string body;
  std::string path = "/";
};
using RequestSource = std::function<ApiRequest(std::uint64_t number)>;

struct LoadResult {
  std::uint64_t answers = 0;
  std::uint64_t failures = 0;  // answers other than 2xx
  double per_second = 0;
  double median_microseconds = 0;
  double p99_microseconds = 0;
};

// Renders requests before it starts, so that only sending and receiving is measured. Ends the process with a message
// when the server goes away.
class HttpLoad {
 public:
  HttpLoad(std::uint16_t port, int connections, const RequestSource& source, std::size_t distinct_requests);
  ~HttpLoad();
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;

  LoadResult run(Duration duration);
  // As many requests as that, as fast as they go.
  LoadResult run_all(std::uint64_t requests);
  // Otherwise the first failure is shown.
  void be_quiet() { quiet_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection;
  struct Rendered {
    std::string text;
    std::vector<std::size_t> fresh;  // where the fresh numbers are
  };
  static Rendered render(const ApiRequest& request);
  // Sends the next one on each connection that is free for as long as `more` says so.
  LoadResult run_while(const std::function<bool(Clock::time_point now, std::uint64_t sent)>& more);
  void send_next(Connection& connection);
  bool receive(Connection& connection, LoadResult& result);

  std::vector<Rendered> requests_;
  std::uint64_t next_ = 0;
  int poll_ = -1;
  bool quiet_ = false;
  std::vector<Connection> connections_;
  std::vector<float> times_;
};

}  // namespace postino::bench
