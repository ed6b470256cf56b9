// A great many e-mails through one server: whether it is as fast at the end as at the beginning, and within an hour.
#include <algorithm>
#include <array>

#include "child_process.h"
#include "measured_outbox.h"

namespace postino::bench {

namespace {

constexpr std::size_t tenths = 10;

struct Tenth {
  double per_second = 0;
  double cpu_microseconds = 0;  // for each e-mail
};

Tenth send_tenth(MeasuredOutbox& outbox, std::uint64_t emails) {
  const pid_t process = outbox.server().process();
  const double before = cpu_seconds(process);
  const auto count = static_cast<double>(emails);
  const double rate = count / outbox.send(emails).count();
  return {rate, (cpu_seconds(process) - before) * 1e6 / count};
}

}  // namespace

void measure_endurance(OutboxRace& race) {
  constexpr double least_share = 0.9;  // of the first rate
  Report& report = race.report;
  const std::uint64_t each = std::max<std::uint64_t>(race.emails / tenths, few);
  MeasuredOutbox outbox(race, "endurance");
  outbox.send(few);
  const MeasuredOutbox::ListingTimes before = outbox.time_listings();
  const auto begin = std::chrono::steady_clock::now();
  std::array<Tenth, tenths> done;
  for (std::size_t i = 0; i < tenths; ++i) {
    done[i] = send_tenth(outbox, each);
    report.fact("sent, " + std::to_string(few + (i + 1) * each) + " e-mails in all",
                text_of("%.0f/s", done[i].per_second) + text_of(", %.0f us", done[i].cpu_microseconds) +
                    text_of(", %.0f MB", outbox.server().resident_megabytes()));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::uint64_t all = few + tenths * each;
  report.ceiling("rate of sending, first tenth : last tenth",
                 text_of("%.0f/s", done.front().per_second) + text_of(" : %.0f/s", done.back().per_second),
                 done.front().per_second / done.back().per_second, 1 / least_share);
  report.ceiling(
      "processor time of an e-mail, last tenth : first tenth",
      text_of("%.0f us", done.back().cpu_microseconds) + text_of(" : %.0f us", done.front().cpu_microseconds),
      done.back().cpu_microseconds / done.front().cpu_microseconds, 1 / least_share);
  const double million = took.count() / static_cast<double>(all - few) * 1e6;
  report.ceiling("a million at this rate", text_of("%.0f min", million / 60), million / 3'600, 1);
  report_listings(report, outbox.time_listings(), all, before, few);
  const double peak = outbox.server().peak_megabytes();
  report.ceiling("most memory", text_of("%.0f MB", peak), peak / 150, 1);
}

}  // namespace postino::bench
