#include "http/server.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/many_threads_testing.h"
#include "http/raw_client_testing.h"
#include "http/server_testing.h"
#include "net/descriptor_limit.h"

namespace postino::http {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr milliseconds short_time(40);

ServerOptions with(void (*change)(ServerOptions&)) {
  ServerOptions options;
  change(options);
  return options;
}

TEST(HttpServerTest, ServesManyRequestsOnOneConnection) {
  const auto server = start_server();
  RawClient client(server->port());
  for (int i = 0; i < 100; ++i) {
    const std::string target = "/" + std::to_string(i);
    ASSERT_TRUE(client.send(post(target, "body " + target)));
    const RawResponse response = client.receive();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST " + target + " body " + target);
    EXPECT_EQ(response.header("Content-Type"), "text/plain");
    EXPECT_THAT(response.header("Date"), testing::EndsWith(" GMT"));
    EXPECT_EQ(response.header("Connection"), "");
  }
  EXPECT_EQ(server->counts().accepted, 1U);
  EXPECT_EQ(server->counts().connections, 1U);
}

TEST(HttpServerTest, AnswersRequestsSentAheadInOrder) {
  const auto server = start_server();
  RawClient client(server->port());
  std::string requests;
  for (int i = 0; i < 1000; ++i)
    requests += post("/" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'));
  std::thread sender([&] { client.send(requests); });
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(client.receive().body,
              "POST /" + std::to_string(i) + " " + std::string(static_cast<std::size_t>(i), 'x'));
  sender.join();
}

TEST(HttpServerTest, TakesARequestByteByByte) {
  const auto server = start_server();
  RawClient client(server->port());
  for (const char byte : post("/slow", "body") + get("/next")) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.receive().body, "POST /slow body");
  EXPECT_EQ(client.receive().body, "GET /next ");
}

TEST(HttpServerTest, TakesChunkedBodies) {
  const auto server = start_server();
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  client.send("7\r\n, world\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "POST / hello, world");
}

TEST(HttpServerTest, TakesAndSendsLargeBodies) {
  const auto server = start_server();
  RawClient client(server->port());
  std::string body(16 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
  ASSERT_TRUE(client.send(post("/", body)));
  EXPECT_TRUE(client.receive().body == "POST / " + body);
}

TEST(HttpServerTest, AnswersHeadWithoutABody) {
  const auto server = start_server();
  RawClient client(server->port());
  client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + get("/b"));
  EXPECT_EQ(client.receive_head().header("Content-Length"), "8");
  EXPECT_EQ(client.receive().body, "GET /b ");
}

TEST(HttpServerTest, EndsTheConnectionWhenAnyoneWantsItTo) {
  const auto server = start_server();
  for (const std::string request : {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
                                    "GET /close HTTP/1.1\r\nHost: a\r\n\r\n"}) {
    RawClient client(server->port());
    client.send(request + get("/ignored"));
    const RawResponse response = client.receive();
    EXPECT_EQ(response.status, 200) << request;
    EXPECT_EQ(response.header("Connection"), "close") << request;
    EXPECT_EQ(client.receive_all(), "") << request;
  }
  RawClient client(server->port());
  client.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.receive().header("Connection"), "keep-alive");
  client.send("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "GET /2 ");
  EXPECT_EQ(client.receive_all(), "");
}

TEST(HttpServerTest, AnswersAClientThatHasFinishedSending) {
  const auto server = start_server();
  RawClient client(server->port());
  client.send(get("/1") + get("/2"));
  client.finish_sending();
  EXPECT_EQ(client.receive().body, "GET /1 ");
  EXPECT_EQ(client.receive().body, "GET /2 ");
  EXPECT_EQ(client.receive_all(), "");
}

TEST(HttpServerTest, LetsTheClientSendABodyItAskedAbout) {
  const auto server = start_server();
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.receive_bytes(25), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello" + get("/next"));
  EXPECT_EQ(client.receive().body, "POST / hello");
  EXPECT_EQ(client.receive().body, "GET /next ");
}

TEST(HttpServerTest, RefusesALargeBodyBeforeItIsSent) {
  const auto server = start_server(with([](auto& options) { options.max_body_bytes = 100; }));
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n");
  const RawResponse response = client.receive();
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.header("Content-Length"), "0");
  EXPECT_EQ(response.header("Connection"), "close");
}

// The client reads the response only after it has sent everything.
TEST(HttpServerTest, RefusesALargeBodySoThatTheClientCanReadIt) {
  const auto server = start_server(with([](auto& options) { options.linger_timeout = milliseconds(30'000); }));
  for (const std::string size : {"Content-Length: 16777217", "Transfer-Encoding: chunked"}) {
    RawClient client(server->port());
    client.send("POST / HTTP/1.1\r\nHost: a\r\n" + size + "\r\n\r\n");
    if (size.starts_with("T")) client.send("1000001\r\n");
    client.send(std::string(20 << 20, 'x'));
    client.finish_sending();
    EXPECT_EQ(client.receive().status, 413) << size;
    EXPECT_EQ(client.receive_all(), "") << size;
  }
  EXPECT_EQ(server->counts().malformed, 2U);
}

TEST(HttpServerTest, RefusesWhatItCannotRead) {
  const auto server = start_server();
  const auto status_of = [&](const std::string& request) {
    RawClient client(server->port());
    client.send(request);
    const RawResponse response = client.receive();
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(response.header("Connection"), "close");
    client.finish_sending();
    EXPECT_EQ(client.receive_all(), "");
    return response.status;
  };
  EXPECT_EQ(status_of("hello\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(server->counts().malformed, 3U);
}

TEST(HttpServerTest, GivesUpOnAHeaderThatDoesNotEnd) {
  const auto server = start_server(with([](auto& options) { options.header_timeout = short_time; }));
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\nX: ");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(server->counts().timed_out, 1U);

  RawClient trickling(server->port());
  while (trickling.send("GET") && !trickling.is_readable(1)) {
  }
  EXPECT_EQ(server->counts().timed_out, 2U) << "every byte is not a new chance";
}

TEST(HttpServerTest, GivesUpOnABodyThatDoesNotEnd) {
  const auto server = start_server(with([](auto& options) { options.body_timeout = short_time; }));
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(server->counts().timed_out, 1U);
}

TEST(HttpServerTest, GivesUpOnAConnectionThatRests) {
  EXPECT_TRUE(base::with_enough_time([](milliseconds limit) {
    ServerOptions options;
    options.idle_timeout = limit;
    const auto server = start_server(options);
    RawClient silent(server->port());
    RawClient client(server->port());
    client.send(get("/"));
    if (client.receive().status != 200) return false;
    EXPECT_EQ(client.receive_all(), "");
    EXPECT_EQ(silent.receive_all(), "");
    EXPECT_EQ(server->counts().timed_out, 2U);
    return true;
  }));
}

// Answers with 64 MB.
void answer_much(const Request&, const Responder& respond) {
  Response response;
  response.body.assign(64 << 20, 'x');
  respond(std::move(response));
}

TEST(HttpServerTest, GivesUpOnAClientThatDoesNotRead) {
  const auto server = start_server(with([](auto& options) { options.write_timeout = short_time; }), answer_much);
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_TRUE(client.wait_for_reset());
  EXPECT_EQ(server->counts().timed_out, 1U);
}

TEST(HttpServerTest, CountsAnswersUntilTheyAreTaken) {
  const ServerOptions options;
  const auto server = start_server(options, answer_much);
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() > 64U << 20; }));
  EXPECT_EQ(client.receive().body.size(), 64U << 20);
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() == 0; }));
  client.send(get("/"));
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() > 64U << 20; }));
  client = RawClient();
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() == 0; })) << "a client that leaves gives it back";
}

TEST(HttpServerTest, WhatAHandlerHasReservedIsKeptUntilTheClientHasTheAnswer) {
  constexpr std::size_t size = 64 << 20;
  ServerOptions options;
  options.threads = 1;
  options.answers = std::make_shared<base::MemoryBudget>(200 << 20);
  const auto server = start_server(options, [&](const Request& request, const Responder& respond) {
    Response response;
    if (request.target == "/large") {
      response.body.assign(size, 'x');
      response.memory = std::make_shared<base::MemoryBudget::Share>(options.answers->take(size));
    }
    respond(std::move(response));
  });
  RawClient client(server->port());
  client.send(get("/large"));
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() > 0; }));
  RawClient other(server->port());
  other.send(get("/"));
  EXPECT_EQ(other.receive().status, 200) << "by now the first one waits for its client";
  EXPECT_EQ(options.answers->taken(), size);
  EXPECT_EQ(client.receive().body.size(), size);
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() == 0; }));
}

TEST(HttpServerTest, GivesUpSoonOnAClientThatDoesNotReadWhenMemoryIsScarce) {
  ServerOptions options;
  options.scarce_write_timeout = short_time;
  options.answers = std::make_shared<base::MemoryBudget>(100 << 20);
  const auto server = start_server(options, answer_much);
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_TRUE(client.wait_for_reset());
  EXPECT_EQ(server->counts().too_slow, 1U);
  EXPECT_TRUE(base::eventually([&] { return options.answers->taken() == 0; }));
}

TEST(HttpServerTest, LeavesAClientTimeToReadWhileThereIsMemory) {
  EXPECT_TRUE(base::with_enough_time([](milliseconds limit) {
    ServerOptions options;
    options.scarce_write_timeout = limit / 4;
    options.idle_timeout = limit;
    options.answers = std::make_shared<base::MemoryBudget>(200 << 20);
    const auto server = start_server(options, answer_much);
    RawClient client(server->port());
    client.send(get("/"));
    EXPECT_TRUE(base::eventually([&] { return options.answers->taken() > 0 || server->counts().timed_out > 0; }));
    if (options.answers->taken() == 0) return false;
    EXPECT_EQ(RawClient(server->port()).receive_all(), "") << "the time of another client, which rests, passes";
    EXPECT_EQ(client.receive().body.size(), 64U << 20);
    EXPECT_EQ(server->counts().too_slow, 0U);
    return true;
  }));
}

TEST(HttpServerTest, DoesNotHurryTheHandler) {
  WaitingRoom room;
  ServerOptions options;
  options.header_timeout = options.body_timeout = options.write_timeout = short_time;
  const auto server = start_server(options, room.handler());
  RawClient client(server->port());
  client.send(get("/"));
  const auto visitor = room.take();
  RawClient slow(server->port());
  slow.send("GET");
  EXPECT_EQ(slow.receive_all(), "") << "meanwhile the time of others is up";
  visitor.answer("late");
  EXPECT_EQ(client.receive().body, "late");
}

TEST(HttpServerTest, DoesNotWaitForeverForTheClientToClose) {
  const auto server = start_server(with([](auto& options) { options.linger_timeout = short_time; }));
  RawClient client(server->port());
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  while (server->counts().connections > 0) std::this_thread::yield();
  EXPECT_EQ(server->counts().timed_out, 0U) << "that is how it ends";
}

TEST(HttpServerTest, LimitsConnections) {
  const auto server = start_server(with([](auto& options) { options.max_connections = 2; }));
  auto first = std::make_unique<RawClient>(server->port());
  RawClient second(server->port());
  for (RawClient* client : {first.get(), &second}) {
    client->send(get("/"));
    EXPECT_EQ(client->receive().status, 200);
  }
  RawClient third(server->port());
  EXPECT_THAT(third.receive_all(), testing::AnyOf("", "(reset)"));
  EXPECT_EQ(server->counts().refused, 1U);
  first.reset();
  while (server->counts().connections == 2) std::this_thread::yield();
  RawClient fourth(server->port());
  fourth.send(get("/"));
  EXPECT_EQ(fourth.receive().status, 200);
}

TEST(HttpServerTest, LimitsTheBodiesOfAllRequestsTogether) {
  WaitingRoom room;
  const auto server =
      start_server(with([](auto& options) { options.max_body_bytes_in_flight = 1000; }), room.handler());
  RawClient first(server->port());
  first.send(post("/", std::string(900, 'x')));
  const auto visitor = room.take();
  RawClient second(server->port());
  second.send(post("/", std::string(200, 'x')));
  EXPECT_EQ(second.receive().status, 503);
  second.finish_sending();
  EXPECT_EQ(second.receive_all(), "");
  EXPECT_EQ(server->counts().overloaded, 1U);
  visitor.answer("done");
  EXPECT_EQ(first.receive().body, "done");
  RawClient third(server->port());
  third.send(post("/", std::string(200, 'x')));
  room.take().answer("there is room again");
  EXPECT_EQ(third.receive().body, "there is room again");
}

TEST(HttpServerTest, BodiesThatDoNotEndLeaveRoomForOthers) {
  constexpr std::size_t megabyte = 1 << 20;
  const auto server = start_server(with([](auto& options) {
    options.max_body_bytes = 4 * megabyte;
    options.max_body_bytes_in_flight = 40 * megabyte;
  }));
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 15; ++i) {
    silent.push_back(std::make_unique<RawClient>(server->port()));
    std::string request = post("/", std::string(4 * megabyte, 'x'));
    request.pop_back();
    silent.back()->send(request);
  }
  RawClient other(server->port());
  other.send(post("/", std::string(64 << 10, 'x')));
  EXPECT_EQ(other.receive().status, 200);
}

TEST(HttpServerTest, RefusesWhoMayNotCallBeforeTheBodyComes) {
  WaitingRoom room;
  const auto server = start_server(with([](auto& options) {
                                     options.refuse_early = [](const Request& request) -> std::optional<Response> {
                                       if (request.path() != "/secret" || !request.from_loopback) return std::nullopt;
                                       return Response{.status = 401, .body = "who are you?"};
                                     };
                                   }),
                                   room.handler());
  for (const std::string expectation : {"", "Expect: 100-continue\r\n"}) {
    RawClient client(server->port());
    client.send("POST /secret HTTP/1.1\r\nHost: a\r\n" + expectation + "Content-Length: 1000000\r\n\r\n");
    const RawResponse refusal = client.receive();
    EXPECT_EQ(refusal.status, 401);
    EXPECT_EQ(refusal.body, "who are you?");
    EXPECT_EQ(refusal.header("Connection"), "close");
    client.finish_sending();
    EXPECT_EQ(client.receive_all(), "");
  }
  RawClient chunked(server->port());
  chunked.send("POST /secret HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(chunked.receive().status, 401);

  RawClient welcome(server->port());
  welcome.send("POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
  welcome.send("body");
  const auto visitor = room.take();
  EXPECT_EQ(visitor.request->body, "body");
  visitor.answer("done");
  EXPECT_EQ(welcome.receive().body, "done");
}

TEST(HttpServerTest, GivesUpOnALargeBodyThatStalls) {
  const auto server = start_server(with([](auto& options) { options.stall_timeout = milliseconds(20); }));
  RawClient client(server->port());
  std::string request = post("/", std::string(200'000, 'x'));
  request.pop_back();
  client.send(request);
  EXPECT_THAT(client.receive_all(), testing::AnyOf("", "(reset)"));
  EXPECT_EQ(server->counts().timed_out, 1U);
}

// Lets the process have only so many descriptors more, for a while.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    CHECK(getrlimit(RLIMIT_NOFILE, &usual_) == 0);
    const base::Descriptor next(::socket(AF_INET, SOCK_STREAM, 0));
    set({static_cast<rlim_t>(next.number()) + left, usual_.rlim_max});
  }
  ~FewDescriptors() { set(usual_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  static void set(const rlimit& limit) { CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0); }
  rlimit usual_{};
};

TEST(HttpServerTest, WaitsForDescriptorsWithoutSpinning) {
  const auto server = start_server();
  RawClient client;  // has its descriptor already
  {
    const FewDescriptors none(0);
    const auto begin = std::chrono::steady_clock::now();
    client.connect(server->port());
    client.send(get("/"));
    while (server->counts().accept_failures < 2) std::this_thread::yield();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(50)) << "the second attempt comes after a pause";
  }
  EXPECT_EQ(client.receive().status, 200);
}

TEST(HttpServerTest, DoesNotStartWithoutDescriptors) {
  for (const rlim_t left : {0, 1, 2}) {
    const FewDescriptors few(left);
    const auto server = Server::start({}, echo);
    ASSERT_FALSE(server.has_value()) << left;
    EXPECT_THAT(server.error().message, HasSubstr("Too many open files")) << left;
  }
}

TEST(HttpServerTest, RaisesTheLimitOfDescriptors) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit low{std::min<rlim_t>(usual.rlim_cur, 256), usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(net::raise_descriptor_limit(), usual.rlim_max);
  rlimit raised{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, usual.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

TEST(HttpServerTest, SaysWhyItCannotListen) {
  const auto server = start_server();
  ServerOptions options;
  options.port = server->port();
  const auto second = Server::start(options, echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(server->port()) + ": Address already in use");
  options.address = "not an address";
  const auto third = Server::start(options, echo);
  ASSERT_FALSE(third.has_value());
  EXPECT_THAT(third.error().message, StartsWith("cannot listen on 'not an address': "));
}

TEST(HttpServerTest, CanListenAgainAtOnceOnTheSamePort) {
  auto server = start_server();
  ServerOptions options;
  options.port = server->port();
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_EQ(client.receive().status, 200);
  server.reset();
  EXPECT_TRUE(Server::start(options, echo).has_value());
}

TEST(HttpServerTest, ListensOnIpVersion6AndKnowsNeighboursFromStrangers) {
  ServerOptions options;
  options.address = "::";
  std::atomic<bool> from_loopback = false;
  const auto server = start_server(options, [&](const Request& request, Responder respond) {
    from_loopback = request.from_loopback && !request.secure;
    echo(request, std::move(respond));
  });
  RawClient client(server->port());  // by version 4, which such a socket serves too
  client.send(get("/"));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(from_loopback);
}

}  // namespace
}  // namespace postino::http
