// Responses from other threads, and the end of servers.
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/many_threads_testing.h"
#include "http/raw_client_testing.h"
#include "http/server.h"
#include "http/server_testing.h"

namespace postino::http {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds long_time(60'000);

TEST(HttpServerConcurrentTest, AnswersInAnyOrderFromAnyThread) {
  WaitingRoom room;
  const auto server = start_server({}, room.handler());
  constexpr int count = 50;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(get("/" + std::to_string(i)) + get("/" + std::to_string(i) + "/next"));
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<WaitingRoom::Visitor> visitors;
    for (int i = 0; i < count; ++i) visitors.push_back(room.take());
    std::ranges::shuffle(visitors, std::mt19937(static_cast<unsigned>(round)));
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        for (std::size_t k = static_cast<std::size_t>(i); k < count; k += 2)
          visitors[k].answer("answer to " + std::string(visitors[k].request->target));
      });
    for (std::thread& thread : threads) thread.join();
  }
  for (int i = 0; i < count; ++i) {
    const std::string target = "/" + std::to_string(i);
    EXPECT_EQ(clients[static_cast<std::size_t>(i)]->receive().body, "answer to " + target);
    EXPECT_EQ(clients[static_cast<std::size_t>(i)]->receive().body, "answer to " + target + "/next");
  }
}

TEST(HttpServerConcurrentTest, HandlesARequestSentAheadOnlyWhenTheOneBeforeIsAnswered) {
  WaitingRoom room;
  const auto server = start_server({}, room.handler());
  RawClient client(server->port());
  client.send(post("/1", "first") + post("/2", "second"));
  RawClient other(server->port());
  other.send(get("/other"));
  std::vector<WaitingRoom::Visitor> visitors{room.take(), room.take()};
  if (visitors[0].request->target == "/other") std::swap(visitors[0], visitors[1]);
  EXPECT_EQ(visitors[0].request->target, "/1");
  EXPECT_EQ(visitors[1].request->target, "/other") << "not /2";
  EXPECT_EQ(visitors[0].request->body, "first");
  visitors[0].answer("1");
  EXPECT_EQ(client.receive().body, "1");
  const auto second = room.take();
  EXPECT_EQ(second.request->body, "second");
  second.answer("2");
  EXPECT_EQ(client.receive().body, "2");
  visitors[1].answer("other");
}

TEST(HttpServerConcurrentTest, ServesManyConnections) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<std::pair<std::string, Responder>> jobs;
  bool done = false;
  const auto server = start_server({}, [&](const Request& request, Responder respond) {
    std::lock_guard lock(mutex);
    jobs.emplace_back(request.body, std::move(respond));
    arrived.notify_one();
  });
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i)
    workers.emplace_back([&] {
      std::unique_lock lock(mutex);
      while (true) {
        arrived.wait(lock, [&] { return done || !jobs.empty(); });
        if (jobs.empty()) return;
        auto [body, respond] = std::move(jobs.front());
        jobs.pop_front();
        lock.unlock();
        Response response;
        response.body = std::move(body);
        respond(std::move(response));
        lock.lock();
      }
    });

  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&, i] {
      std::vector<std::unique_ptr<RawClient>> connections;
      for (int k = 0; k < 100; ++k) connections.push_back(std::make_unique<RawClient>(server->port()));
      for (int round = 0; round < 5; ++round) {
        const auto text = [&](std::size_t k) {
          return std::to_string(i) + "/" + std::to_string(k) + "/" + std::to_string(round);
        };
        for (std::size_t k = 0; k < connections.size(); ++k) connections[k]->send(post("/", text(k)));
        for (std::size_t k = 0; k < connections.size(); ++k) EXPECT_EQ(connections[k]->receive().body, text(k));
      }
    });
  for (std::thread& thread : clients) thread.join();
  {
    std::lock_guard lock(mutex);
    done = true;
    arrived.notify_all();
  }
  for (std::thread& thread : workers) thread.join();
  EXPECT_EQ(server->counts().accepted, 300U);
}

TEST(HttpServerConcurrentTest, AnswersForAHandlerThatDoesNot) {
  WaitingRoom room;
  const auto server = start_server({}, room.handler());
  RawClient client(server->port());
  client.send(get("/"));
  room.take();  // and drop it
  EXPECT_EQ(client.receive().status, 500);
  EXPECT_EQ(client.receive_all(), "");

  const auto forgetful = start_server({}, [](const Request&, const Responder&) {});
  RawClient second(forgetful->port());
  second.send(get("/"));
  EXPECT_EQ(second.receive().status, 500);
}

TEST(HttpServerConcurrentTest, CountsTheFirstOfTwoResponses) {
  WaitingRoom room;
  const auto server = start_server({}, room.handler());
  RawClient client(server->port());
  client.send(get("/1") + get("/2"));
  const auto first = room.take();
  first.answer("1");
  const auto second = room.take();
  first.answer("1 again");
  second.answer("2");
  EXPECT_EQ(client.receive().body, "1");
  EXPECT_EQ(client.receive().body, "2");
}

TEST(HttpServerConcurrentTest, LetsRequestsFinishWhenItStops) {
  WaitingRoom room;
  const auto server = start_server({}, room.handler());
  RawClient resting(server->port());
  RawClient client(server->port());
  RawClient sending(server->port());
  client.send(get("/"));
  auto visitor = room.take();
  sending.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(sending.receive_bytes(25).size(), 25U);
  std::thread stopper([&] { server->stop(long_time); });
  EXPECT_EQ(resting.receive_all(), "") << "it is not waited for";
  visitor.answer("late");
  const RawResponse response = client.receive();
  EXPECT_EQ(response.body, "late");
  EXPECT_EQ(response.header("Connection"), "close");
  sending.send("hello");
  visitor = room.take();
  EXPECT_EQ(visitor.request->body, "hello");
  visitor.answer("later");
  EXPECT_EQ(sending.receive().header("Connection"), "close");
  stopper.join();
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(sending.receive_all(), "");
  EXPECT_EQ(server->counts().connections, 0U);
}

TEST(HttpServerConcurrentTest, StopsWithoutThoseThatTakeTooLong) {
  WaitingRoom room;
  auto server = start_server({}, room.handler());
  RawClient client(server->port());
  client.send(post("/", "still there"));
  const auto visitor = room.take();
  server->stop(milliseconds(1));
  EXPECT_EQ(client.receive_all(), "");
  server.reset();
  EXPECT_EQ(visitor.request->body, "still there") << "until it is answered";
  visitor.answer("to nobody");
}

TEST(HttpServerConcurrentTest, MayStopWhileResponsesComeIn) {
  for (int round = 0; round < 30; ++round) {
    WaitingRoom room;
    auto server = start_server({}, room.handler());
    std::vector<std::unique_ptr<RawClient>> clients;
    std::vector<WaitingRoom::Visitor> visitors;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(std::make_unique<RawClient>(server->port()));
      clients.back()->send(post("/", "body"));
      visitors.push_back(room.take());
    }
    std::thread answering([&] {
      for (const auto& visitor : visitors) visitor.answer(std::string(visitor.request->body));
      visitors.clear();
    });
    std::thread stopping([&] { server->stop(milliseconds(round % 3)); });
    server->stop(milliseconds(0));
    stopping.join();
    server.reset();
    answering.join();
  }
}

TEST(HttpServerConcurrentTest, MayStopWhileConnectionsComeIn) {
  for (int round = 0; round < 10; ++round) {
    auto server = start_server();
    const std::uint16_t port = server->port();
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<RawClient>(port));
      clients.back()->send(get("/"));
    }
    server->stop(milliseconds(round));
    server.reset();
    for (const auto& client : clients) client->receive_all();
  }
}

// What a test has said, as soon as it is asked for.
class News final : public BodyStream {
 public:
  void begin(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  Piece next() override {
    const std::lock_guard lock(mutex_);
    return {std::exchange(text_, ""), is_last_};
  }
  std::string pulse() override { return pulse_; }

  void say(const std::string& text, bool is_last = false) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      text_ += text;
      is_last_ = is_last;
      wake = wake_;
    }
    if (wake) wake();
  }
  void set_pulse(std::string pulse) { pulse_ = std::move(pulse); }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::string text_;
  bool is_last_ = false;
  std::string pulse_;
};

// Answers /news with a stream that the test keeps an eye on, and everything else at once.
class NewsAgency {
 public:
  Handler handler() {
    return [this](const Request& request, const Responder& respond) {
      if (request.path() != "/news") return echo(request, respond);
      Response response;
      response.content_type = "text/event-stream";
      auto news = std::make_shared<News>();
      news->set_pulse(pulse);
      {
        const std::lock_guard lock(mutex_);
        news_.push_back(news);
      }
      response.stream = std::move(news);
      respond(std::move(response));
    };
  }
  // Waits for the stream with this number; nullptr when it is gone.
  std::shared_ptr<News> news(std::size_t number = 0) {
    EXPECT_TRUE(base::eventually([&] {
      const std::lock_guard lock(mutex_);
      return news_.size() > number;
    }));
    const std::lock_guard lock(mutex_);
    return news_[number].lock();
  }
  bool is_gone(std::size_t number = 0) {
    return base::eventually([&] { return news(number) == nullptr; });
  }

  std::string pulse;

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<News>> news_;
};

TEST(HttpStreamConcurrentTest, SendsPiecesAsTheyComeAndServesTheNextRequest) {
  NewsAgency agency;
  const auto server = start_server({}, agency.handler());
  RawClient client(server->port());
  client.send(get("/news"));
  const RawResponse head = client.receive_head();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(head.header("Content-Length"), "");
  EXPECT_EQ(server->counts().streams, 1U);
  agency.news()->say("data: one\n\n");
  EXPECT_EQ(client.receive_bytes(16), "b\r\ndata: one\n\n\r\n");
  agency.news()->say("data: seventeen\n\n");
  EXPECT_EQ(client.receive_bytes(23), "11\r\ndata: seventeen\n\n\r\n");
  agency.news()->say("end", true);
  EXPECT_EQ(client.receive_bytes(13), "3\r\nend\r\n0\r\n\r\n");
  EXPECT_TRUE(agency.is_gone());
  client.send(get("/other"));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(server->counts().streams, 0U);
}

TEST(HttpStreamConcurrentTest, TellsTheTruthOfTheMomentFromManyThreads) {
  constexpr int speakers = 4, words = 200;
  NewsAgency agency;
  const auto server = start_server({}, agency.handler());
  RawClient client(server->port());
  client.send("GET /news HTTP/1.0\r\n\r\n");
  const RawResponse head = client.receive_head();
  EXPECT_EQ(head.header("Transfer-Encoding"), "") << "an old client does not know chunks";
  {
    const auto news = agency.news();
    base::run_threads(speakers, [&](int) {
      for (int i = 0; i < words; ++i) news->say("x");
    });
    news->say("!", true);
  }
  EXPECT_EQ(client.receive_all(), std::string(speakers * words, 'x') + "!");
}

TEST(HttpStreamConcurrentTest, EndsWithItsClient) {
  NewsAgency agency;
  const auto server = start_server({}, agency.handler());
  {
    RawClient client(server->port());
    client.send(get("/news"));
    EXPECT_EQ(client.receive_head().status, 200);
    EXPECT_NE(agency.news(), nullptr);
  }
  EXPECT_TRUE(agency.is_gone());
  EXPECT_TRUE(base::eventually([&] { return server->counts().connections == 0; }));
  EXPECT_EQ(server->counts().streams, 0U);
}

TEST(HttpStreamConcurrentTest, RefusesMoreThanItMayHave) {
  NewsAgency agency;
  ServerOptions options;
  options.max_streams = 1;
  const auto server = start_server(std::move(options), agency.handler());
  RawClient first(server->port());
  first.send(get("/news"));
  EXPECT_EQ(first.receive_head().status, 200);
  RawClient second(server->port());
  second.send(get("/news") + get("/other"));
  EXPECT_EQ(second.receive().status, 503);
  EXPECT_EQ(second.receive().status, 200) << "the connection serves on";
  agency.news()->say("", true);
  EXPECT_EQ(first.receive_bytes(5), "0\r\n\r\n");
  second.send(get("/news"));
  EXPECT_EQ(second.receive_head().status, 200);
}

TEST(HttpStreamConcurrentTest, CutsOffAClientThatTakesNothing) {
  NewsAgency agency;
  ServerOptions options;
  options.write_timeout = milliseconds(20);
  const auto server = start_server(std::move(options), agency.handler());
  RawClient client(server->port());
  client.send(get("/news"));
  const auto deadline = std::chrono::steady_clock::now() + base::test_patience;
  // More than the kernel holds for it.
  while (const auto news = agency.news()) {
    news->say(std::string(1 << 20, 'x'));
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  EXPECT_TRUE(base::eventually([&] { return server->counts().timed_out == 1; }));
  EXPECT_EQ(server->counts().streams, 0U);
}

TEST(HttpStreamConcurrentTest, ShowsThatItIsThere) {
  NewsAgency agency;
  agency.pulse = ": here\n\n";
  ServerOptions options;
  options.stream_pulse = milliseconds(5);
  const auto server = start_server(std::move(options), agency.handler());
  RawClient client(server->port());
  client.send(get("/news"));
  EXPECT_EQ(client.receive_head().status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.receive_bytes(13), "8\r\n: here\n\n\r\n");
}

TEST(HttpStreamConcurrentTest, EndsWithTheServer) {
  NewsAgency agency;
  auto server = start_server({}, agency.handler());
  RawClient client(server->port());
  client.send(get("/news"));
  EXPECT_EQ(client.receive_head().status, 200);
  const auto news = agency.news();
  server->stop(long_time);
  EXPECT_EQ(client.receive_all(), "");
  news->say("late");  // to no client
}

TEST(HttpStreamConcurrentTest, HasNoBodyForHead) {
  NewsAgency agency;
  const auto server = start_server({}, agency.handler());
  RawClient client(server->port());
  client.send("HEAD /news HTTP/1.1\r\nHost: x\r\n\r\n" + get("/other"));
  EXPECT_EQ(client.receive_head().header("Content-Type"), "text/event-stream");
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(agency.is_gone());
}

}  // namespace
}  // namespace postino::http
