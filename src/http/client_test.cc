#include "http/client.h"

#include <gmock/gmock.h>

#include <future>

#include "base/check.h"
#include "base/temporary_directory.h"
#include "http/response_reader.h"
#include "http/server_testing.h"
#include "net/certificates_testing.h"
#include "net/raw_server_testing.h"

namespace postino::http {
namespace {

using namespace std::string_literals;
using ::testing::EndsWith;
using ::testing::StartsWith;

net::Deadline in_a_tenth() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(100); }

constexpr std::string_view not_http = "the server does not answer in proper HTTP";
constexpr std::string_view cut = "the server has closed the connection in the middle of the response";

std::unique_ptr<Client> make_client(ClientOptions options = {}) {
  options.allow_private_addresses = true;
  auto client = Client::create(std::move(options));
  CHECK(client.has_value());
  return *std::move(client);
}

std::string at(std::uint16_t port, const std::string& target = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + target;
}

ClientRequest request_to(const std::string& url) {
  const auto parsed = net::Url::parse(url);
  CHECK(parsed.has_value());
  return {.url = *parsed};
}

ClientRequest post_to(const std::string& url, std::string body) {
  ClientRequest request = request_to(url);
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

std::string shown(const base::Result<ClientResponse>& response) {
  if (response) return std::to_string(response->status) + " " + response->body;
  return (response.error().code == base::ErrorCode::io ? "io: " : "invalid: ") + response.error().message;
}

std::string fetch(Client& client, const std::string& url) {
  return shown(client.send(request_to(url), net::deadline_in(std::chrono::seconds(60))));
}

// The client's view of these bytes, after which the server closes.
std::string received(const std::string& bytes, const std::string& method = "GET", ClientOptions options = {}) {
  net::RawServer server([&](net::RawPeer& peer) {
    peer.receive_head();
    peer.send(bytes);
  });
  ClientRequest request = request_to(at(server.port()));
  request.method = method;
  options.tls.verify = false;  // nothing is encrypted, and reading the authorities takes time
  return shown(make_client(std::move(options))->send(request, net::deadline_in(std::chrono::seconds(60))));
}

TEST(HttpClientTest, SendsRequestsAndReadsResponses) {
  const auto server = start_server({}, [](const Request& request, Responder respond) {
    Response response;
    response.status = 404;
    response.headers = {{"X-Host", std::string(request.header("Host"))},
                        {"X-Length", std::string(request.header("Content-Length"))},
                        {"X-Mine", std::string(request.header("x-mine"))}};
    response.body = std::string(request.method) + " " + std::string(request.target) + " " + std::string(request.body);
    respond(std::move(response));
  });
  const auto client = make_client();
  ClientRequest request = post_to(at(server->port(), "/a?b=c"), std::string("with\0zero", 9));
  request.headers = {{"X-Mine", "some \t value"}, {"X-Empty", ""}};
  const auto response = client->send(request, net::deadline_in(std::chrono::seconds(60)));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "POST /a?b=c " + request.body);
  EXPECT_EQ(response->header("X-Host"), "127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(response->header("x-length"), "9");
  EXPECT_EQ(response->header("X-MINE"), "some \t value");
  EXPECT_EQ(response->header("X-None"), "");

  EXPECT_EQ(
      client->send(post_to(at(server->port()), ""), net::deadline_in(std::chrono::seconds(60)))->header("X-Length"),
      "0");
  EXPECT_EQ(
      client->send(request_to(at(server->port())), net::deadline_in(std::chrono::seconds(60)))->header("X-Length"), "");
}

TEST(HttpClientTest, FindsServersByName) {
  const auto server = start_server();
  EXPECT_EQ(fetch(*make_client(), "http://localhost:" + std::to_string(server->port()) + "/"), "200 GET / ");
}

TEST(HttpClientTest, TriesEveryAddressOfAName) {
  EXPECT_EQ(fetch(*make_client(), "http://localhost:1/"), "io: cannot connect to 127.0.0.1:1: connection refused")
      << "when none answers, the first is to blame";
  ServerOptions options;
  options.address = "::1";
  const auto server = Server::start(options, echo);
  if (!server) return;  // a machine without IPv6
  EXPECT_EQ(fetch(*make_client(), "http://localhost:" + std::to_string((*server)->port()) + "/"), "200 GET / ")
      << "127.0.0.1 refuses, ::1 does not";
  EXPECT_EQ(fetch(*make_client(), "http://[::1]:" + std::to_string((*server)->port()) + "/"), "200 GET / ");
}

TEST(HttpClientTest, CarriesLargeBodies) {
  const auto server = start_server();
  std::string body(3 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
  const auto client = make_client({.max_response_bytes = 4 << 20});
  EXPECT_TRUE(shown(client->send(post_to(at(server->port()), body), net::deadline_in(std::chrono::seconds(60)))) ==
              "200 POST / " + body);
}

TEST(HttpClientTest, UsesAConnectionAgain) {
  const auto server = start_server();
  const auto client = make_client();
  for (int i = 0; i < 20; ++i) {
    const std::string target = "/" + std::to_string(i);
    EXPECT_EQ(
        shown(client->send(post_to(at(server->port(), target), "body"), net::deadline_in(std::chrono::seconds(60)))),
        "200 POST " + target + " body");
  }
  ClientRequest head = request_to(at(server->port()));
  head.method = "HEAD";
  EXPECT_EQ(shown(client->send(head, net::deadline_in(std::chrono::seconds(60)))), "200 ")
      << "and does not wait for a body";
  EXPECT_EQ(fetch(*client, at(server->port())), "200 GET / ");
  EXPECT_EQ(server->counts().accepted, 1U);
}

TEST(HttpClientTest, KeepsNoConnectionThatTheServerEnds) {
  const auto server = start_server();
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, at(server->port(), "/close")), "200 GET /close ");
  EXPECT_EQ(fetch(*client, at(server->port())), "200 GET / ");
  EXPECT_EQ(server->counts().accepted, 2U);
}

TEST(HttpClientTest, KeepsConnectionsToDifferentNamesApart) {
  const auto server = start_server();
  const auto client = make_client();
  for (int i = 0; i < 2; ++i)
    for (const std::string host : {"localhost", "127.0.0.1"})
      EXPECT_EQ(fetch(*client, "http://" + host + ":" + std::to_string(server->port()) + "/"), "200 GET / ");
  EXPECT_EQ(server->counts().accepted, 2U);
}

TEST(HttpClientTest, KeepsNoMoreConnectionsThanAllowed) {
  const auto first = start_server();
  const auto second = start_server();
  const auto client = make_client({.max_idle_connections = 1});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fetch(*client, at(first->port())), "200 GET / ");
    EXPECT_EQ(fetch(*client, at(second->port())), "200 GET / ");
  }
  EXPECT_EQ(first->counts().accepted, 3U) << "each time the other has taken the place";
  EXPECT_EQ(fetch(*client, at(second->port())), "200 GET / ");
  EXPECT_EQ(second->counts().accepted, 3U);

  const auto forgetful = make_client({.max_idle_connections = 0});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(fetch(*forgetful, at(first->port())), "200 GET / ");
  EXPECT_EQ(first->counts().accepted, 5U);
}

TEST(HttpClientTest, DoesNotUseAConnectionThatHasWaitedTooLong) {
  const auto server = start_server();
  const auto client = make_client({.idle_time = std::chrono::seconds(0)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fetch(*client, at(server->port())), "200 GET / ");
  EXPECT_EQ(server->counts().accepted, 3U);
}

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(HttpClientTest, RecoversFromAKeptConnectionThatWasClosed) {
  net::RawServer server([](net::RawPeer& peer) {
    peer.receive_head();
    peer.send(ok);
  });
  const auto client = make_client();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fetch(*client, at(server.port())), "200 ok");
  EXPECT_EQ(server.connections(), 5);
}

TEST(HttpClientTest, SendsAgainWhenAKeptConnectionDiesOverTheRequest) {
  for (const bool by_reset : {false, true}) {
    std::vector<std::string> heads;
    {
      net::RawServer server([&](net::RawPeer& peer) {
        heads.push_back(peer.receive_head());
        peer.send(ok);
        heads.push_back(peer.receive_head());
        if (by_reset) peer.end_with_reset();
      });
      const auto client = make_client();
      EXPECT_EQ(fetch(*client, at(server.port(), "/1")), "200 ok");
      EXPECT_EQ(fetch(*client, at(server.port(), "/2")), "200 ok");
      EXPECT_EQ(server.connections(), 2);
    }
    ASSERT_GE(heads.size(), 3U);
    EXPECT_THAT(heads[1], StartsWith("GET /2 HTTP/1.1\r\n"));
    EXPECT_EQ(heads[2], heads[1]);
  }
}

TEST(HttpClientTest, DoesNotSendAgainOnceAResponseHasBegun) {
  net::RawServer server([&](net::RawPeer& peer) {
    peer.receive_head();
    peer.send(ok);
    peer.receive_head();
    peer.send("H");
  });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, at(server.port())), "200 ok");
  EXPECT_EQ(fetch(*client, at(server.port())), "io: " + std::string(cut));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClientTest, DoesNotSendAgainOnANewConnection) {
  net::RawServer server([](net::RawPeer& peer) { peer.receive_head(); });
  EXPECT_EQ(fetch(*make_client(), at(server.port())), "io: the server has closed the connection without a response");
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClientTest, AttemptsOnceAndTellsWhetherItWasSent) {
  net::RawServer server([&](net::RawPeer& peer) {
    peer.receive_head();
    peer.send(ok);
    peer.receive_head();
  });
  const auto client = make_client();
  const auto attempt = [&](const std::string& url) {
    return client->attempt(request_to(url), net::deadline_in(std::chrono::seconds(60)));
  };
  const Client::Attempt first = attempt(at(server.port()));
  EXPECT_EQ(shown(first.response), "200 ok");
  EXPECT_TRUE(first.was_sent);
  const Client::Attempt second = attempt(at(server.port()));
  EXPECT_EQ(shown(second.response), "io: the server has closed the connection without a response")
      << "on a kept connection, but not sent again";
  EXPECT_TRUE(second.was_sent);
  EXPECT_EQ(server.connections(), 1);
  const Client::Attempt never = attempt("http://127.0.0.1:1/");
  EXPECT_EQ(shown(never.response), "io: cannot connect to 127.0.0.1:1: connection refused");
  EXPECT_FALSE(never.was_sent);
}

TEST(HttpClientTest, DoesNotTakeALateResponseForTheNext) {
  net::RawServer server([](net::RawPeer& peer) {
    peer.receive_head();
    peer.send(std::string(ok) + "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled");
    peer.wait_for_end();
  });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, at(server.port())), "200 ok");
  EXPECT_EQ(fetch(*client, at(server.port())), "200 ok");
}

TEST(HttpClientTest, DoesNotFollowRedirects) {
  const auto elsewhere = start_server();
  const auto server = start_server({}, [&](const Request&, Responder respond) {
    Response response;
    response.status = 302;
    response.headers = {{"Location", at(elsewhere->port())}};
    respond(std::move(response));
  });
  const auto response = make_client()->send(request_to(at(server->port())), net::deadline_in(std::chrono::seconds(60)));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(response->header("location"), at(elsewhere->port()));
  EXPECT_EQ(elsewhere->counts().accepted, 0U);
}

TEST(HttpClientTest, RefusesPrivateAddresses) {
  const auto server = start_server();
  const auto client = Client::create({});
  ASSERT_TRUE(client);
  const std::string port = ":" + std::to_string(server->port()) + "/";
  for (const std::string host : {"127.0.0.1", "localhost", "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1",
                                 "169.254.169.254", "0.0.0.0", "[::]", "[fe80::1]", "[64:ff9b::7f00:1]"})
    EXPECT_THAT(fetch(**client, "http://" + host + port), StartsWith("invalid: the address of ")) << host;
  EXPECT_EQ(fetch(**client, at(server->port())), "invalid: the address of '127.0.0.1' is not a public one");
  EXPECT_EQ(server->counts().accepted, 0U);
}

TEST(HttpClientTest, RefusesNumbersThatStandForPrivateAddresses) {
  const auto server = start_server();
  const auto client = Client::create({});
  ASSERT_TRUE(client);
  for (const std::string host : {"2130706433", "0x7f.1", "0x7f000001", "127.1", "0177.0.0.1"}) {
    ClientRequest request;
    request.url.host = host;
    request.url.port = server->port();
    EXPECT_THAT(shown((*client)->send(request, net::deadline_in(std::chrono::seconds(60)))), StartsWith("invalid: "))
        << host;
  }
  EXPECT_EQ(server->counts().accepted, 0U);
}

TEST(HttpClientTest, RefusesRequestsThatAreNotWhatTheySeem) {
  const auto server = start_server();
  const auto client = make_client();
  const auto problem = [&](auto change) {
    ClientRequest request = request_to(at(server->port()));
    change(request);
    return shown(client->send(request, net::deadline_in(std::chrono::seconds(60))));
  };
  for (const std::string& value :
       {std::string("a\r\nX-Other: b"), std::string("a\nb"), std::string("a\rb"), std::string("a\0b", 3)})
    EXPECT_EQ(problem([&](ClientRequest& request) {
                request.headers = {{"X-Mine", value}};
              }),
              "invalid: the header X-Mine must not have line ends or control characters");
  for (const std::string& name : {std::string("X\r\nY"), std::string("X Y"), std::string("X:"), std::string(),
                                  std::string("X\0", 2), std::string("\xC3\xA4")})
    EXPECT_EQ(problem([&](ClientRequest& request) {
                request.headers = {{name, "value"}};
              }),
              "invalid: a header's name is not a valid one");
  for (const std::string name : {"Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade"})
    EXPECT_EQ(problem([&](ClientRequest& request) {
                request.headers = {{name, "1"}};
              }),
              "invalid: the header " + name + " cannot be set");
  for (const std::string method : {"", "GET /", "GE\r\nT", "CONNECT"})
    EXPECT_EQ(problem([&](ClientRequest& request) { request.method = method; }),
              "invalid: the method is not a valid one");
  for (const std::string target : {"/a b", "/\r\nX: y", "a", "", "/#a"})
    EXPECT_EQ(problem([&](ClientRequest& request) { request.url.target = target; }),
              "invalid: the URL is not a valid one")
        << target;
  for (const std::string host : {"", "127.0.0.1\r\nX: y", "a/b", "a@b", "127.0.0.1:1"})
    EXPECT_EQ(problem([&](ClientRequest& request) { request.url.host = host; }), "invalid: the URL is not a valid one")
        << host;
  EXPECT_EQ(server->counts().accepted, 0U);
}

// Where it stands by then depends on how busy the machine is.
void expect_timeout(const ClientRequest& request) {
  const auto client = make_client();
  const std::string outcome = shown(client->send(request, in_a_tenth()));
  EXPECT_THAT(outcome, StartsWith("io: "));
  EXPECT_THAT(outcome, EndsWith("timed out"));
}

TEST(HttpClientTest, EndsAtTheDeadlineWhenTheServerHangs) {
  net::RawServer server([](net::RawPeer& peer) { peer.wait_for_end(); });
  ClientRequest request = request_to(at(server.port()));
  expect_timeout(request);
  request.url.secure = true;
  expect_timeout(request);
  EXPECT_THAT(shown(make_client()->send(request, net::Deadline())), EndsWith("timed out")) << "before the beginning";
}

TEST(HttpClientTest, EndsAtTheDeadlineWhenTheServerDrips) {
  const std::string ok_line = "HTTP/1.1 200 OK\r\n";
  for (const std::string& start : {"HTTP/1.1 200 "s, ok_line + "X: ", ok_line + "Content-Length: 1000000\r\n\r\n",
                                   ok_line + "Transfer-Encoding: chunked\r\n\r\nfffff\r\n", ok_line + "\r\n"}) {
    net::RawServer server([&](net::RawPeer& peer) {
      peer.receive_head();
      peer.send(start);
      for (int i = 0; i < 15'000 && !peer.is_readable(1); ++i) peer.send("x");
    });
    expect_timeout(request_to(at(server.port())));
  }
}

TEST(HttpClientTest, EndsAtTheDeadlineWhenTheServerDoesNotTakeTheRequest) {
  std::promise<void> over;
  net::RawServer server([&](net::RawPeer&) { over.get_future().wait(); });
  expect_timeout(post_to(at(server.port()), std::string(64 << 20, 'x')));
  over.set_value();
}

TEST(HttpClientTest, TakesTheResponseOfAServerThatDoesNotReadAll) {
  net::RawServer server([](net::RawPeer& peer) {
    peer.receive_head();
    peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    peer.wait_for_end();
  });
  const auto client = make_client();
  EXPECT_EQ(shown(client->send(post_to(at(server.port()), std::string(8 << 20, 'x')),
                               net::deadline_in(std::chrono::seconds(60)))),
            "413 big");
}

TEST(HttpClientTest, ReadsBodiesOfEveryForm) {
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "200 hello");
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "200 ");
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\n\r\nuntil the end"), "200 until the end");
  EXPECT_EQ(received("HTTP/1.0 200 OK\r\n\r\nuntil the end"), "200 until the end");
  EXPECT_EQ(
      received(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;a=b\r\n, world\r\n0\r\nX: y\r\n\r\n"),
      "200 hello, world");
  EXPECT_EQ(received("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), "204 ");
  EXPECT_EQ(received("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), "304 ");
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", "HEAD"), "200 ");
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD"), "200 ");
  EXPECT_EQ(received("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + std::string(ok)),
            "200 ok");
}

TEST(HttpClientTest, DoesNotTakeAPartForTheWhole) {
  for (const std::string bytes :
       {"H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "HTTP/1.1 100 Continue\r\n\r\n"})
    EXPECT_EQ(received(bytes), "io: " + std::string(cut)) << bytes;
}

TEST(HttpClientTest, RefusesWhatIsNotHttp) {
  for (const std::string bytes : {
           "SSH-2.0-OpenSSH_9.2\r\n",
           "220 mail.example.com ESMTP\r\n",
           "\r\n\r\n",
           "HTTP/2 200 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 099 OK\r\n\r\n",
           "HTTP/1.1 abc OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nBad Name: a\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
           "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       })
    EXPECT_EQ(received(bytes), "io: " + std::string(not_http)) << bytes;
  EXPECT_EQ(received("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
            "io: the server wants another protocol than HTTP");
}

TEST(HttpClientTest, RefusesBadChunks) {
  for (const std::string chunks : {"x\r\n", "-1\r\nx", "\r\n", "5 5\r\nhello\r\n0\r\n\r\n", "5\r\nhello!\r\n0\r\n\r\n",
                                   "0x5\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n\r\n", "0\r\nX: \x01\r\n\r\n"})
    EXPECT_EQ(received("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks),
              "io: " + std::string(not_http))
        << chunks;
}

TEST(HttpClientTest, LimitsTheBody) {
  const std::string too_large = "io: the response has more than 10 bytes";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto limited = [](const std::string& bytes) { return received(bytes, "GET", {.max_response_bytes = 10}); };
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"), "200 0123456789");
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), too_large);
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n"), too_large);
  EXPECT_EQ(limited(chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"), "200 0123456789");
  EXPECT_EQ(limited(chunked + "5\r\n01234\r\n6\r\n"), too_large);
  EXPECT_EQ(limited(chunked + "ffffffffffffffff\r\n"), too_large);
  EXPECT_EQ(limited(chunked + "fffffffffffffffff\r\n"), too_large);
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\n\r\n0123456789"), "200 0123456789");
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\n\r\n0123456789a"), too_large);
}

TEST(HttpClientTest, LimitsTheHeaders) {
  const std::string too_large = "io: the response's headers have more than 16 KB";
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: ";
  const std::string end = "\r\n\r\n";
  const std::string most(16384 - start.size() - end.size(), 'x');
  EXPECT_EQ(received(start + most + end + "ok"), "200 ok");
  EXPECT_EQ(received(start + most + "x" + end + "ok"), too_large);
  EXPECT_EQ(received("HTTP/1.1 200 " + std::string(20'000, 'x')), too_large);
  std::string many = "HTTP/1.1 200 OK\r\n";
  while (many.size() < 17'000) many += "X-Header: value\r\n";
  EXPECT_EQ(received(many), too_large);
  std::string interim;
  while (interim.size() < 17'000) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(received(interim + std::string(ok)), too_large);
  EXPECT_EQ(received("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(20'000, 'x')),
            "io: " + std::string(not_http));
}

// Where the network cuts the bytes must not matter.
TEST(ResponseReaderTest, ReadsAResponseInPiecesOfAnySize) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nX-First: 1\r\nTransfer-Encoding: chunked\r\nX-Last: "
      "2\r\n\r\n"
      "5\r\nhello\r\n7;a=b\r\n, world\r\n0\r\nX-Trailer: y\r\n\r\n";
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    ResponseReader reader(false, 1000);
    EXPECT_FALSE(reader.started());
    for (std::size_t i = 0; i < bytes.size(); i += size) {
      const auto complete = reader.feed(std::string_view(bytes).substr(i, size));
      ASSERT_TRUE(complete) << size << ": " << complete.error().message;
      ASSERT_EQ(*complete, i + size >= bytes.size()) << size << " at " << i;
      EXPECT_TRUE(reader.started());
    }
    EXPECT_EQ(reader.response().status, 201);
    EXPECT_EQ(reader.response().header("x-first"), "1");
    EXPECT_EQ(reader.response().header("x-last"), "2");
    EXPECT_EQ(reader.response().header("x-trailer"), "");
    EXPECT_EQ(reader.response().body, "hello, world");
    EXPECT_TRUE(reader.connection_lasts());
  }
}

TEST(ResponseReaderTest, KnowsWhetherTheConnectionLasts) {
  const auto lasts = [](std::string_view bytes) {
    ResponseReader reader(false, 1000);
    const auto complete = reader.feed(bytes);
    EXPECT_TRUE(complete && (*complete || reader.end())) << bytes;
    return reader.connection_lasts();
  };
  EXPECT_TRUE(lasts("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_TRUE(lasts("HTTP/1.1 204 No Content\r\n\r\n"));
  EXPECT_TRUE(lasts("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_FALSE(lasts("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_FALSE(lasts("HTTP/1.1 200 OK\r\nConnection: Close, x\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_FALSE(lasts("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_FALSE(lasts("HTTP/1.1 200 OK\r\n\r\nx"));
  EXPECT_FALSE(lasts("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxyz")) << "the client has not asked for this";
}

class HttpsClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Server> serve(const net::TlsFiles& tls) {
    ServerOptions options;
    options.tls = tls;
    return start_server(options);
  }
  std::unique_ptr<Client> trusting() {
    return make_client({.tls = {.certificate_file = authority.certificate_file()}});
  }
  static std::string at(const std::string& host, const Server& server) {
    return "https://" + host + ":" + std::to_string(server.port()) + "/";
  }

  base::TemporaryDirectory directory;
  net::TestAuthority authority{directory.path()};
};

TEST_F(HttpsClientTest, VerifiesTheServerAndUsesAConnectionAgain) {
  const auto server = serve(authority.issue("DNS:localhost"));
  const auto client = trusting();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fetch(*client, at("localhost", *server)), "200 GET / ");
  EXPECT_EQ(server->counts().accepted, 1U);
  EXPECT_EQ(fetch(*client, at("127.0.0.1", *server)),
            "io: the server's certificate is not accepted for '127.0.0.1': IP address mismatch");
}

TEST_F(HttpsClientTest, RefusesServersItDoesNotTrust) {
  const auto server = serve(authority.issue("DNS:localhost"));
  EXPECT_THAT(fetch(*make_client(), at("localhost", *server)),
              StartsWith("io: the server's certificate is not accepted for 'localhost': "));
  EXPECT_EQ(fetch(*make_client({.tls = {.verify = false}}), at("localhost", *server)), "200 GET / ");
  EXPECT_FALSE(Client::create({.tls = {.certificate_file = "/none.pem"}}));
}

}  // namespace
}  // namespace postino::http
