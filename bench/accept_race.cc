#include <algorithm>
#include <cstdio>

#include "net/local_ports_testing.h"
#include "outbox_race.h"
#include "outbox_server.h"

namespace postino::bench {

namespace {

// Intake goes on meanwhile, and after the turn until it is done: it must not run in Postfix's turn. All the e-mails are
// to be sent tomorrow.
Turn posting(HttpLoad& load, const OutboxServer& server) {
  return [&](Duration duration) -> Work {
    const LoadResult result = load.run(duration);
    expect_success(result, "POST /emails");
    server.await_none({"ACCEPTED", "INTAKING"});
    return {result.answers, std::chrono::duration<double>(static_cast<double>(result.answers) / result.per_second)};
  };
}

// As many messages as should take that long, going by the turn before.
Turn submitting(const PostfixProcess& postfix, int sessions, std::uint64_t& submitted) {
  return [&postfix, &submitted, sessions, rate = 100.0](Duration duration) mutable -> Work {
    const double wanted = rate * std::chrono::duration<double>(duration).count();
    const auto messages = std::max<std::uint64_t>(static_cast<std::uint64_t>(wanted), 2 * sessions);
    const Work work = postfix.take(messages, message_bytes, sessions, PostfixProcess::Then::hold);
    submitted += messages;
    rate = static_cast<double>(work.operations) / work.elapsed.count();
    return work;
  };
}

}  // namespace

void race_acceptance(OutboxRace& race) {
  const Plan plan = {.rounds = race.quick ? 3 : 4, .turn = Duration(race.quick ? 500 : 1'000)};
  const base::TimePoint tomorrow = base::SystemClock().now() + std::chrono::hours(24);
  const OutboxServer server(race.program, race.directory / "accept", net::free_port());
  std::uint64_t submitted = 0;
  for (const int clients : {1, 16, 64}) {
    HttpLoad load(
        server.port(), clients, [&](std::uint64_t number) { return email_request(number, tomorrow); },
        distinct_requests);
    std::vector<Racer> racers = {{posting(load, server), server.process()}};
    if (race.postfix != nullptr)
      racers.push_back({submitting(*race.postfix, clients, submitted), race.postfix->process()});
    const std::vector<Pace> paces = race_processes(plan, racers);
    const std::string name = "accept, " + std::to_string(clients) + (clients == 1 ? " client" : " clients");
    race.report.row(name, paces[0], race.postfix != nullptr ? std::optional(paces[1]) : std::nullopt, 5);
  }
  if (race.postfix != nullptr && race.postfix->held() != submitted)
    std::fprintf(stderr, "bench: Postfix took %llu messages, but holds %llu\n",
                 static_cast<unsigned long long>(submitted), static_cast<unsigned long long>(race.postfix->held()));
}

}  // namespace postino::bench
