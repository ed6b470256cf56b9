// What the benchmarks of the outbox share: the contestants, and how long they race.
#pragma once

#include <filesystem>
#include <vector>

#include "postfix_process.h"
#include "report.h"
#include "rounds.h"
#include "smtp_sink_process.h"

namespace postino::bench {

// Against which many are held.
constexpr std::uint64_t few = 1'000;
constexpr int sending_clients = 16;
constexpr std::size_t distinct_requests = 500;  // that clients send again and again

struct OutboxRace {
  std::filesystem::path program;    // Postino
  std::filesystem::path directory;  // for everybody's data: one file system
  bool quick = false;
  std::uint64_t emails = 1'000'000;         // of the endurance test
  SmtpSinkProcess* postfix_sink = nullptr;  // where Postfix relays to
  const PostfixProcess* postfix = nullptr;  // nullptr: there is none
  Report report;
};

// How fast e-mails are taken, one in each request, while nothing is sent.
void race_acceptance(OutboxRace& race);
// How fast e-mails are taken and sent, without and with callbacks.
void race_delivery(OutboxRace& race);
// What a claim costs among few finished e-mails and among many.
void compare_claims(OutboxRace& race);
// What slow receivers of mail and callbacks cost others, and what a limit for a destination costs.
void measure_fair_shares(OutboxRace& race);
// What the server takes when it is idle and when it is not, and what an e-mail costs the store.
void measure_footprint(OutboxRace& race);
// Whether a great many e-mails are sent as fast at the end as at the beginning, and what they leave behind.
void measure_endurance(OutboxRace& race);

// A contestant whose work is done by another process.
struct Racer {
  Turn turn;
  pid_t process = -1;  // with its children
};
// The best of each. The processor time is that of those processes, over all rounds: it is counted in coarse ticks.
std::vector<Pace> race_processes(const Plan& plan, const std::vector<Racer>& racers);

}  // namespace postino::bench
