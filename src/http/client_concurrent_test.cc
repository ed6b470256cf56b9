// One client, many threads.
#include <gmock/gmock.h>

#include <thread>

#include "base/temporary_directory.h"
#include "http/client.h"
#include "http/server_testing.h"
#include "net/certificates_testing.h"

namespace postino::http {
namespace {

constexpr int threads = 6;
constexpr int requests = 50;

// Every thread gets the answers to its own requests.
void hit(Client& client, const std::string& base) {
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int i = 0; i < requests; ++i) {
        const std::string target = "/" + std::to_string(t) + "/" + std::to_string(i);
        ClientRequest request{.method = "POST", .url = *net::Url::parse(base + target), .body = "body of " + target};
        const auto response = client.send(request, std::chrono::steady_clock::now() + std::chrono::seconds(60));
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->body, "POST " + target + " body of " + target);
      }
    });
  for (std::thread& thread : running) thread.join();
}

TEST(HttpClientConcurrentTest, ServesManyThreadsOverFewConnections) {
  const auto server = start_server();
  const auto client = Client::create({.allow_private_addresses = true});
  ASSERT_TRUE(client);
  hit(**client, "http://127.0.0.1:" + std::to_string(server->port()));
  EXPECT_LE(server->counts().accepted, static_cast<unsigned>(threads));
}

TEST(HttpClientConcurrentTest, ThreadsTakeEachOthersPlacesAmongTheKept) {
  const auto server = start_server();
  const auto client = Client::create({.allow_private_addresses = true, .max_idle_connections = 2});
  ASSERT_TRUE(client);
  hit(**client, "http://localhost:" + std::to_string(server->port()));
}

TEST(HttpClientConcurrentTest, ServesManyThreadsOverTls) {
  const base::TemporaryDirectory directory;
  net::TestAuthority authority(directory.path());
  ServerOptions options;
  options.tls = authority.issue("DNS:localhost");
  const auto server = start_server(options);
  const auto client =
      Client::create({.allow_private_addresses = true, .tls = {.certificate_file = authority.certificate_file()}});
  ASSERT_TRUE(client);
  hit(**client, "https://localhost:" + std::to_string(server->port()));
  EXPECT_LE(server->counts().accepted, static_cast<unsigned>(threads));
}

// Lookups run in threads that may be left behind.
TEST(HttpClientConcurrentTest, LooksUpNamesFromManyThreads) {
  const auto client = Client::create({});
  ASSERT_TRUE(client);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const ClientRequest request{.url = *net::Url::parse("http://does-not-exist.invalid/")};
      const auto patience = std::chrono::seconds(t % 2 == 0 ? 60 : 0);
      const auto response = (*client)->send(request, std::chrono::steady_clock::now() + patience);
      ASSERT_FALSE(response);
      EXPECT_EQ(response.error().code, base::ErrorCode::io);
    });
  for (std::thread& thread : running) thread.join();
}

}  // namespace
}  // namespace postino::http
