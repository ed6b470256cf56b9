#include "measured_outbox.h"

#include <algorithm>
#include <cstdio>

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string text_of(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string milliseconds(Milliseconds time) { return text_of("%.2f ms", time.count()); }

MeasuredOutbox::MeasuredOutbox(const OutboxRace& race, std::string name, std::vector<std::string> more_flags)
    : race_(race), name_(std::move(name)), more_flags_(std::move(more_flags)) {
  start();
}

void MeasuredOutbox::start() {
  server_ = std::make_unique<OutboxServer>(race_.program, race_.directory / name_, sink_.port(), more_flags_);
}

std::chrono::duration<double> MeasuredOutbox::send(std::uint64_t emails) {
  HttpLoad load(
      server_->port(), sending_clients, [](std::uint64_t number) { return email_request(number); }, distinct_requests);
  const std::uint64_t before = sink_.received();
  const auto begin = Clock::now();
  expect_success(load.run_all(emails), "POST /emails");
  const auto end = sink_.await(before + emails);
  server_->await_none({"ACCEPTED", "INTAKING", "READY", "PROCESSING"});
  return end - begin;
}

MeasuredOutbox::ListingTimes MeasuredOutbox::time_listings() const {
  ListingTimes times;
  times.fill(std::chrono::hours(1));
  for (std::size_t i = 0; i < listings.size(); ++i)
    for (int round = 0; round < 200; ++round) {
      const auto begin = Clock::now();
      static_cast<void>(server_->get(listings[i]));
      times[i] = std::min<Milliseconds>(times[i], Clock::now() - begin);
    }
  return times;
}

void report_listings(Report& report, const MeasuredOutbox::ListingTimes& after, std::uint64_t now,
                     const MeasuredOutbox::ListingTimes& earlier, std::uint64_t before) {
  for (std::size_t i = 0; i < after.size(); ++i)
    report.ceiling(std::string("GET ") + MeasuredOutbox::listings[i] + ", " + std::to_string(now) +
                       " sent : " + std::to_string(before),
                   milliseconds(after[i]) + " : " + milliseconds(earlier[i]), after[i] / earlier[i], 1.3);
}

}  // namespace postino::bench
