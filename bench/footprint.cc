// What the server takes: threads, memory and time to start; what an e-mail costs the store; and what is left of 100,000
// e-mails when they are sent, in listings and at the next start.
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/check.h"
#include "child_process.h"
#include "measured_outbox.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

double metric(const std::string& text, const std::string& name) {
  const std::size_t found = text.find("\n" + name + " ");
  CHECK(found != std::string::npos);
  const char* const begin = text.data() + found + name.size() + 2;
  double value = 0;
  std::from_chars(begin, text.data() + text.size(), value);
  return value;
}

struct StoreCost {
  const char* name;
  const char* metric;
  double bar;  // 0: none
};
constexpr std::array store_costs = {
    StoreCost{"  keys written", "postino_store_keys_written_total", 30},
    StoreCost{"  bytes of log", "postino_store_log_bytes_total", 11'000},
    StoreCost{"  commits", "postino_store_commits_total", 0},
};

void show_idle(Report& report, const OutboxServer& server, const char* when) {
  report.ceiling(std::string("threads ") + when, std::to_string(server.threads()), server.threads() / 40.0, 1);
  report.ceiling(std::string("memory ") + when, text_of("%.1f MB", server.resident_megabytes()),
                 server.resident_megabytes() / 25, 1);
}

// Threads without work stay for a while.
void await_rest(const OutboxServer& server) {
  for (int i = 0; i < 60 && server.threads() > 40; ++i) ::poll(nullptr, 0, 500);
}

}  // namespace

void measure_footprint(OutboxRace& race) {
  Report& report = race.report;
  const std::uint64_t many = race.quick ? 10'000 : 100'000;
  const std::string count = std::to_string(many);
  MeasuredOutbox subject(race, "footprint");
  Milliseconds start = subject.server().start_time();
  report.fact("start to first answer, new directory", milliseconds(start));
  start = std::chrono::hours(1);
  for (int i = 0; i < 5; ++i) {
    subject.stop();
    subject.start();
    start = std::min<Milliseconds>(start, subject.server().start_time());
  }
  report.ceiling("start to first answer, existing directory", milliseconds(start), start.count() / 60, 1);
  show_idle(report, subject.server(), "when idle");

  subject.send(few);
  const MeasuredOutbox::ListingTimes before = subject.time_listings();
  const std::string metrics = subject.server().get("/metrics");
  const double seconds = cpu_seconds(subject.server().process());
  subject.send(many - few);
  const double microseconds =
      (cpu_seconds(subject.server().process()) - seconds) * 1e6 / static_cast<double>(many - few);
  const std::string metrics_after = subject.server().get("/metrics");
  report.fact("an e-mail of 4 KB, from accepted to sent", "");
  for (const StoreCost& cost : store_costs) {
    const double all = metric(metrics_after, cost.metric) - metric(metrics, cost.metric);
    const double each = all / static_cast<double>(many - few);
    if (cost.bar > 0)
      report.ceiling(cost.name, text_of("%.2f", each), each / cost.bar, 1);
    else
      report.fact(cost.name, text_of("%.2f", each));
  }
  report.ceiling("  processor time", text_of("%.0f us", microseconds), microseconds / 300, 1);
  const double peak = subject.server().peak_megabytes();
  report.ceiling("most memory, " + count + " e-mails sent", text_of("%.0f MB", peak), peak / 150, 1);
  report_listings(report, subject.time_listings(), many, before, few);
  await_rest(subject.server());
  show_idle(report, subject.server(), "after that");
  const auto end = Clock::now();
  subject.stop();
  const Milliseconds stopping = Clock::now() - end;
  subject.start();
  const Milliseconds again = subject.server().start_time();
  report.fact("clean stop, " + count + " sent", milliseconds(stopping));
  report.fact("start after a clean stop, " + count + " sent", milliseconds(again));
  report.ceiling("clean stop and start, " + count + " sent", milliseconds(stopping + again),
                 (stopping + again).count() / 200, 1);
}

}  // namespace postino::bench
