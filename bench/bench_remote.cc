// The outbox on a store over HTTP beside the outbox on the embedded one: the same e-mails of 4 KB, on one machine.
//
//   bench_remote [--quick] [--postino PROGRAM]
//
// A second Postino stands for Amazon DynamoDB. Both servers and it share the processors of this machine, so the ratios
// say what the way over HTTP costs, not what a service with machines of its own can do. At the end come the requests
// and the units of capacity for each e-mail, counted by the server under a load of 100 e-mails a second, one or ten in
// a request, with what it asks while it waits for work. Missing a bar is no failure, because the machine is never
// quiet.
#include <poll.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/temporary_directory.h"
#include "child_process.h"
#include "measured_outbox.h"
#include "net/local_ports_testing.h"

namespace {

using namespace postino::bench;
using Clock = std::chrono::steady_clock;

// The sum over all operations and tables.
double sum_of(const std::string& metrics, const std::string& name) {
  const std::string begin = "\n" + name + "{";
  double sum = 0;
  for (std::size_t found = metrics.find(begin); found != std::string::npos; found = metrics.find(begin, found + 1)) {
    const std::size_t end = metrics.find('\n', found + 1);
    const std::size_t value = metrics.rfind(' ', end) + 1;
    double number = 0;
    std::from_chars(metrics.data() + value, metrics.data() + metrics.size(), number);
    sum += number;
  }
  return sum;
}

Turn accepting(HttpLoad& load, const OutboxServer& server) {
  return [&](Duration duration) -> Work {
    const LoadResult result = load.run(duration);
    expect_success(result, "POST /emails");
    server.await_none({"ACCEPTED", "INTAKING"});
    return {result.answers, std::chrono::duration<double>(static_cast<double>(result.answers) / result.per_second)};
  };
}

// As many as should take that long, going by the turn before.
Turn sending(MeasuredOutbox& outbox) {
  return [&outbox, rate = 200.0](Duration duration) mutable -> Work {
    const auto emails = static_cast<std::uint64_t>(rate * std::chrono::duration<double>(duration).count()) + 50;
    const auto elapsed = outbox.send(emails);
    rate = static_cast<double>(emails) / elapsed.count();
    return {emails, elapsed};
  };
}

void race_acceptance(OutboxRace& race, const MeasuredOutbox& remote, const MeasuredOutbox& embedded) {
  const Plan plan = {.rounds = 3, .turn = Duration(race.quick ? 500 : 2'000)};
  const postino::base::TimePoint tomorrow = postino::base::SystemClock().now() + std::chrono::hours(24);
  const auto request = [&](std::uint64_t number) { return email_request(number, tomorrow); };
  for (const int clients : {1, sending_clients, 64}) {
    HttpLoad over_http(remote.server().port(), clients, request, distinct_requests);
    HttpLoad in_process(embedded.server().port(), clients, request, distinct_requests);
    const std::vector<Pace> paces =
        compete(plan, {accepting(over_http, remote.server()), accepting(in_process, embedded.server())});
    race.report.row("accept, " + std::to_string(clients) + (clients == 1 ? " client" : " clients"), paces[0], paces[1],
                    0.3);
  }
}

// A steady load of 100 e-mails a second, which leaves the server time: what it does then is what most servers do most
// of the time. Callers hand in `in_request` e-mails at a time.
void count_requests(OutboxRace& race, MeasuredOutbox& remote, int in_request) {
  constexpr int at_once = 10;
  constexpr auto pause = std::chrono::milliseconds(100);
  const std::uint64_t emails = race.quick ? 300 : 2'000;
  const int callers = at_once / in_request;
  HttpLoad load(
      remote.server().port(), callers,
      [in_request](std::uint64_t number) { return email_request(number, std::nullopt, in_request); },
      distinct_requests);
  const std::string before = remote.server().get("/metrics");
  auto next = Clock::now();
  for (std::uint64_t sent = 0; sent < emails; sent += at_once) {
    expect_success(load.run_all(static_cast<std::uint64_t>(callers)), "POST /emails");
    next += pause;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (left.count() > 0) ::poll(nullptr, 0, static_cast<int>(left.count()));
  }
  remote.server().await_none({"ACCEPTED", "INTAKING", "READY", "PROCESSING"});
  const std::string after = remote.server().get("/metrics");
  const auto each = [&](const std::string& name) {
    return (sum_of(after, name) - sum_of(before, name)) / static_cast<double>(emails);
  };
  race.report.fact(
      "an e-mail of 4 KB from accepted to sent, 100 a second, " + std::to_string(in_request) + " in a request", "");
  const double requests = each("postino_store_requests_total");
  race.report.ceiling("  requests", text_of("%.2f", requests), requests / 8, 1);
  race.report.fact("  read units", text_of("%.2f", each("postino_store_read_units_total")));
  race.report.fact("  write units", text_of("%.2f", each("postino_store_write_units_total")));
}

int run(bool quick, std::filesystem::path program) {
  if (!SmtpSinkProcess::is_installed()) {
    std::fprintf(stderr, "bench: smtp-sink is not installed: nothing can be sent\n");
    return 1;
  }
  const auto home = std::filesystem::canonical("/proc/self/exe").parent_path();
  const postino::base::TemporaryDirectory directory(home);
  OutboxRace race{.program = program.empty() ? home / "postino" : std::move(program), .directory = directory.path()};
  race.quick = quick;
  const std::uint16_t port = postino::net::free_port();
  const ServerProcess store({race.program, "serve", "--data", directory.path() / "store", "--dynamodb",
                             loopback_address(port), "--no-outbox"},
                            port);
  MeasuredOutbox remote(
      race, "remote",
      {"--store", "dynamodb", "--store-endpoint", "http://" + loopback_address(port), "--store-key-id", "local",
       "--store-secret", "local", "--objects", directory.path() / "objects"});
  MeasuredOutbox embedded(race, "embedded");
  Report::header("remote", "embedded");
  const Plan plan = {.rounds = 3, .turn = Duration(quick ? 1'000 : 4'000)};
  const std::vector<Pace> paces = compete(plan, {sending(remote), sending(embedded)});
  race.report.row("accepted and sent, 16 clients", paces[0], paces[1], 0.3);
  for (const int in_request : {1, 10}) count_requests(race, remote, in_request);
  race_acceptance(race, remote, embedded);  // the last: its e-mails stay where they are until tomorrow
  std::printf("%d below their bar\n", race.report.below());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  bool quick = false;
  std::filesystem::path program;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--quick") {
      quick = true;
    } else if (word == "--postino" && i + 1 < count) {
      program = arguments[++i];
    } else {
      std::fprintf(stderr, "usage: bench_remote [--quick] [--postino PROGRAM]\n");
      return 2;
    }
  }
  return run(quick, std::move(program));
}
