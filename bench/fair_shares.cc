// What a slow receiver costs others: e-mails and callbacks that wait behind many for a slow one, and a destination with
// a limit, beside what its connections can do.
#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "measured_outbox.h"
#include "outbox_race.h"
#include "outbox_server.h"
#include "slow_receiver.h"

namespace postino::bench {

namespace {

using Clock = SlowReceiver::Clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t equal_requests = 100;
constexpr double longest_wait = 2;  // seconds, for those behind a slow one

void post(const OutboxServer& server, std::uint64_t count, const std::string& domain,
          const std::string& callback = "") {
  std::string body = R"({"data":[{"from":"ann@peer.example","to":"bob@)" + domain + R"(","subject":"Your invoice",)";
  if (!callback.empty()) body += R"("callback_url":")" + callback + R"(",)";
  body += R"("body_text":"It is attached."}]})";
  ApiRequest request;
  request.path = "/emails";
  request.body = body;
  HttpLoad load(
      server.port(), sending_clients, [&](std::uint64_t) { return request; }, equal_requests);
  expect_success(load.run_all(count), "POST /emails");
}

void show_wait(Report& report, const std::string& name, Clock::time_point begin, Clock::time_point end) {
  const double wait = Seconds(end - begin).count();
  report.ceiling(name, text_of("%.2f s", wait), wait / longest_wait, 1);
}

void limit_a_destination(OutboxRace& race) {
  constexpr int limit = 4;
  constexpr std::chrono::milliseconds delay{100};
  const std::size_t count = race.quick ? 80 : 400;
  const std::string domain = "limited.example";
  SlowReceiver receiver = SlowReceiver::of_mail({{domain, delay}});
  const OutboxServer server(race.program, race.directory / "limited", receiver.port(),
                            {"--destination-concurrency", std::to_string(limit)});
  post(server, count, domain);
  const auto times = receiver.await(domain, count);
  const double ours = static_cast<double>(count - 1) / Seconds(times.back() - times.front()).count();
  const double most = limit / Seconds(delay).count();
  race.report.row("sent with a limit of 4, 100 ms each : 4 connections", {.per_second = ours}, Pace{.per_second = most},
                  0.9);
}

void send_behind_a_slow_one(OutboxRace& race) {
  const std::size_t slow = race.quick ? 1'000 : 15'000, fast = 100;
  SlowReceiver receiver = SlowReceiver::of_mail({{"slow.example", std::chrono::seconds(5)}});
  const OutboxServer server(race.program, race.directory / "slow-mail", receiver.port());
  post(server, slow, "slow.example");
  receiver.await("slow.example", 1);
  const auto begin = Clock::now();
  post(server, fast, "fast.example");
  show_wait(race.report, "100 e-mails sent behind " + std::to_string(slow) + " of 5 s each", begin,
            receiver.await("fast.example", fast).back());
}

void send_beside_many_slow_ones(OutboxRace& race) {
  constexpr int domains = 20;
  const std::size_t slow = race.quick ? 40 : 1'000, fast = 100;
  std::map<std::string, std::chrono::milliseconds> delays;
  for (int i = 0; i < domains; ++i) delays["slow" + std::to_string(i) + ".example"] = std::chrono::seconds(5);
  SlowReceiver receiver = SlowReceiver::of_mail(delays);
  const OutboxServer server(race.program, race.directory / "slow-mails", receiver.port());
  for (const auto& [domain, delay] : delays) post(server, slow, domain);
  for (const auto& [domain, delay] : delays) receiver.await(domain, 1);
  const auto begin = Clock::now();
  post(server, fast, "fast.example");
  show_wait(race.report, "100 e-mails sent beside " + std::to_string(slow) + " to each of 20 domains of 5 s", begin,
            receiver.await("fast.example", fast).back());
}

void call_back_behind_a_slow_one(OutboxRace& race) {
  const std::size_t slow = 200, fast = 20;
  SlowReceiver mail = SlowReceiver::of_mail({});
  SlowReceiver slow_receiver = SlowReceiver::of_callbacks({{"/slow", std::chrono::seconds(30)}});
  SlowReceiver fast_receiver = SlowReceiver::of_callbacks({});
  const auto url = [](const SlowReceiver& receiver, const char* path) {
    return "http://127.0.0.1:" + std::to_string(receiver.port()) + path;
  };
  const OutboxServer server(race.program, race.directory / "slow-callbacks", mail.port(),
                            {"--callback-allow-private", "--callback-timeout", "60s"});
  post(server, slow, "slow.example", url(slow_receiver, "/slow"));
  mail.await("slow.example", slow);
  const auto begin = Clock::now();
  post(server, fast, "fast.example", url(fast_receiver, "/fast"));
  show_wait(race.report, "20 e-mails called back behind 200 of 30 s each", begin,
            fast_receiver.await("/fast", fast).back());
}

}  // namespace

void measure_fair_shares(OutboxRace& race) {
  limit_a_destination(race);
  send_behind_a_slow_one(race);
  send_beside_many_slow_ones(race);
  call_back_behind_a_slow_one(race);
}

}  // namespace postino::bench
