// Several processes that count, several threads that write, and figures that are counted again meanwhile.
#include <thread>

#include "base/many_threads_testing.h"
#include "http/raw_client_testing.h"
#include "http/server.h"
#include "metrics/metrics.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;

FollowerOptions following_for_real(const std::string& owner) {
  FollowerOptions options = following_at_once(owner);
  options.poll = 5ms;
  options.batch = 25;
  options.pauses = {.first = 1ms, .longest = 5ms};
  return options;
}

bool becomes_right(SupportDesk& desk) {
  return base::eventually([&] {
    return stored_figures(desk.engine()) == true_figures(desk.engine(), ticket_source(tickets_table), desk.now());
  });
}

TEST(MetricsConcurrentTest, TwoProcessesCountEachChangeOnce) {
  SupportDesk desk;
  FollowerOptions options = following_for_real("one");
  // Time goes by with each change, so that they take it from each other again and again.
  options.keeper.lease = 3ms;
  CountingProcess one(desk, desk.engine(), options);
  options.keeper.owner = "two";
  CountingProcess two(desk, desk.engine(), options);
  one.follower.start();
  two.follower.start();
  base::run_threads(3, [&](int thread) {
    base::SeededRandom random(static_cast<std::uint64_t>(thread) + 1);
    for (int i = 0; i < base::volume(1'000); ++i) {
      change_something(desk.engine(), random, desk.now(), 50);
      desk.time().advance(1ms);
    }
  });
  EXPECT_TRUE(becomes_right(desk));
  one.follower.stop();
  two.follower.stop();
  desk.expect_right();
}

TEST(MetricsConcurrentTest, CountsAnewWhileWorkGoesOn) {
  SupportDesk desk;
  base::SeededRandom before(9);
  for (int i = 0; i < 300; ++i) change_something(desk.engine(), before, desk.now(), 200);
  CountingProcess process(desk, desk.engine(), following_for_real("one"), {.keys_per_pass = 500, .page = 50});
  process.follower.start();
  std::atomic<bool> is_done = false;
  std::thread asking([&] {
    std::uint64_t seen = 0;
    while (!is_done) {
      if (const std::uint64_t begun = process.follower.counts().begun; begun > seen) {
        seen = begun;
        process.follower.begin_anew();
      }
      std::this_thread::yield();
    }
  });
  base::run_threads(3, [&](int thread) {
    base::SeededRandom random(static_cast<std::uint64_t>(thread) + 20);
    for (int i = 0; i < base::volume(1'000); ++i) change_something(desk.engine(), random, desk.now(), 200);
  });
  EXPECT_TRUE(base::eventually([&] { return process.follower.counts().begun > 2; }));
  is_done = true;
  asking.join();
  EXPECT_TRUE(becomes_right(desk));
  process.follower.stop();
  desk.expect_right();
}

TEST(MetricsConcurrentTest, AllPartsStartAndStopTogether) {
  SupportDesk desk;
  MetricsOptions options;
  options.sources = {ticket_source(tickets_table)};
  options.following = following_for_real("");
  options.live = {.interval = 1ms, .poll = 5ms};
  Metrics metrics(desk.engine(), std::move(options), desk.clock(), desk.random(), desk.retry());
  ASSERT_TRUE(metrics.prepare());
  metrics.start();
  ASSERT_TRUE(base::eventually([&] { return metrics.follower("tickets")->counts().follows; }));
  EXPECT_EQ(metrics.follower("weather"), nullptr);
  EXPECT_FALSE(metrics.count_anew("weather"));
  const auto stream = metrics.live().watch("");
  ASSERT_NE(stream, nullptr);
  desk.put(ticket_item("a", "NEW", desk.now()));
  EXPECT_TRUE(base::eventually([&] { return stream->next().bytes.find(R"("NEW":1)") != std::string::npos; }));
  EXPECT_TRUE(metrics.count_anew("tickets"));
  EXPECT_TRUE(base::eventually([&] { return metrics.follower("tickets")->counts().begun == 2; }));
  std::string text;
  metrics.append_to(text);
  EXPECT_NE(text.find("postino_metrics_follows{follower=\"tickets\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("postino_tickets_by_status{kind=\"NEW\"} 1\n"), std::string::npos) << text;
  metrics.stop();
  EXPECT_TRUE(stream->next().is_last);
}

// From a ticket to a browser that watches.
TEST(MetricsConcurrentTest, FiguresAreServedAsTheyChange) {
  SupportDesk desk;
  MetricsOptions options;
  options.sources = {ticket_source(tickets_table)};
  options.following = following_for_real("");
  options.live = {.interval = 1ms, .poll = 60s, .most_watchers = 1};
  Metrics metrics(desk.engine(), std::move(options), desk.clock(), desk.random(), desk.retry());
  ASSERT_TRUE(metrics.prepare());
  metrics.start();
  ASSERT_TRUE(base::eventually([&] { return metrics.follower("tickets")->counts().begun == 1; }));
  const auto server = http::Server::start({}, [&](const http::Request&, const http::Responder& respond) {
    http::Response response;
    response.stream = metrics.live().watch("");
    response.status = response.stream ? 200 : 503;
    response.content_type = "text/event-stream";
    respond(std::move(response));
  });
  ASSERT_TRUE(server);
  http::RawClient browser((*server)->port()), other((*server)->port());
  browser.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(browser.receive_head().status, 200);
  const auto read_until = [&](const std::string& text) {
    std::string received;
    while (received.find(text) == std::string::npos) {
      const std::string next = browser.receive_bytes(1);
      if (next.empty()) return false;
      received += next;
    }
    return true;
  };
  EXPECT_TRUE(read_until(R"("NEW":0)"));
  other.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(other.receive_head().status, 503) << "one watches already";
  for (int i = 1; i <= 3; ++i) {
    desk.put(ticket_item(std::to_string(i), "NEW", desk.now()));
    EXPECT_TRUE(read_until(R"("NEW":)" + std::to_string(i)));
  }
  metrics.stop();
  browser.receive_all();  // it ends
  EXPECT_TRUE(base::eventually([&] { return (*server)->counts().streams == 0; }));
}

}  // namespace
}  // namespace postino::metrics
