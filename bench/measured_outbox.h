// A server of its own, with a sink for its mail, that is filled with e-mails and measured.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "outbox_race.h"
#include "outbox_server.h"

namespace postino::bench {

using Milliseconds = std::chrono::duration<double, std::milli>;

std::string text_of(const char* format, double value);
std::string milliseconds(Milliseconds time);

class MeasuredOutbox {
 public:
  static constexpr std::array listings = {"/emails", "/emails?status=SENT", "/emails?status=READY"};
  using ListingTimes = std::array<Milliseconds, listings.size()>;

  // Its data is in a folder of that name.
  MeasuredOutbox(const OutboxRace& race, std::string name, std::vector<std::string> more_flags = {});

  const OutboxServer& server() const { return *server_; }
  void start();
  void stop() { server_.reset(); }

  // Until the last one is at the sink and its state is written: says how long it took until then, without the latter.
  std::chrono::duration<double> send(std::uint64_t emails);

  // The best of many, for each listing.
  ListingTimes time_listings() const;

 private:
  const OutboxRace& race_;
  const std::string name_;
  const std::vector<std::string> more_flags_;
  SmtpSinkProcess sink_;
  std::unique_ptr<OutboxServer> server_;
};

// Lists now beside lists before: `now` and `before` say how many e-mails there were.
void report_listings(Report& report, const MeasuredOutbox::ListingTimes& after, std::uint64_t now,
                     const MeasuredOutbox::ListingTimes& earlier, std::uint64_t before);

}  // namespace postino::bench
