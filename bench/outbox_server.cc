#include "outbox_server.h"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "base/timestamp.h"
#include "child_process.h"
#include "mails.h"
#include "net/local_ports_testing.h"

namespace postino::bench {

namespace {

constexpr std::size_t line_length = 76;

// Lines of letters, in JSON. A line end is two bytes in a message, and two characters in JSON.
std::string body_text(std::uint64_t number) {
  std::string letters;
  for (std::uint64_t part = 0; letters.size() < message_bytes; ++part) letters += mail_body(number * 8 + part);
  std::string text;
  for (std::size_t at = 0; text.size() + 2 < message_bytes; at += line_length)
    text += letters.substr(at, std::min(line_length, message_bytes - text.size() - 2)) + "\\n";
  return text;
}

std::vector<std::string> command(const std::filesystem::path& program, const std::filesystem::path& data,
                                 std::uint16_t port, std::uint16_t smtp_port, const std::vector<std::string>& more) {
  std::vector<std::string> words = {program,      "serve",
                                    "--data",     data,
                                    "--dynamodb", "127.0.0.1:0",
                                    "--http",     loopback_address(port),
                                    "--smtp",     loopback_address(smtp_port),
                                    "--smtp-tls", "off"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::int64_t number_of(std::string_view json, std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\":";
  const std::size_t found = json.find(quoted);
  std::int64_t number = 0;
  if (found != std::string_view::npos) {
    json.remove_prefix(found + quoted.size());
    std::from_chars(json.data(), json.data() + json.size(), number);
  }
  return number;
}

}  // namespace

ApiRequest email_request(std::uint64_t number, std::optional<base::TimePoint> send_at, int emails) {
  std::string email = R"({"from":"ann@peer.example","to":"bob@example.org","subject":"Your invoice",)";
  if (send_at) email += R"("send_at":")" + base::format_timestamp(*send_at) + R"(",)";
  email += R"("body_text":")" + body_text(number) + R"("})";
  ApiRequest request;
  request.path = "/emails";
  request.body = R"({"data":[)" + email;
  for (int more = 1; more < emails; ++more) request.body += "," + email;
  request.body += "]}";
  return request;
}

void expect_success(const LoadResult& result, const char* what) {
  if (result.failures == 0) return;
  std::fprintf(stderr, "bench: %s failed %llu times\n", what, static_cast<unsigned long long>(result.failures));
  std::exit(1);
}

OutboxServer::OutboxServer(const std::filesystem::path& program, const std::filesystem::path& data,
                           std::uint16_t smtp_port, const std::vector<std::string>& more_flags)
    : OutboxServer(net::free_port(), program, data, smtp_port, more_flags) {}

OutboxServer::OutboxServer(std::uint16_t port, const std::filesystem::path& program, const std::filesystem::path& data,
                           std::uint16_t smtp_port, const std::vector<std::string>& more_flags)
    : server_(command(program, data, port, smtp_port, more_flags), port) {
  http::ClientOptions options;
  options.allow_private_addresses = true;
  auto client = http::Client::create(options);
  CHECK(client);
  client_ = std::move(*client);
}

std::string OutboxServer::get(const std::string& target) const {
  http::ClientRequest request;
  const auto url = net::Url::parse("http://" + loopback_address(port()) + target);
  CHECK(url);
  request.url = *url;
  auto response = client_->send(request, std::chrono::steady_clock::now() + std::chrono::seconds(20));
  CHECK(response && response->status == 200);
  return std::move(response->body);
}

std::int64_t OutboxServer::count(std::initializer_list<std::string_view> states) const {
  const std::string counts = get("/emails/counts");
  std::int64_t sum = 0;
  for (const std::string_view state : states) sum += number_of(counts, state);
  return sum;
}

void OutboxServer::await_none(std::initializer_list<std::string_view> states) const {
  const auto begin = std::chrono::steady_clock::now();
  while (count(states) > 0) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(120)) {
      std::fprintf(stderr, "bench: the outbox does not get done with its e-mails\n");
      std::exit(1);
    }
    ::poll(nullptr, 0, 5);
  }
}

}  // namespace postino::bench
