#include <poll.h>

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "http/server.h"
#include "outbox_race.h"
#include "outbox_server.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Answers each callback with 204, and counts them.
class CallbackSink {
 public:
  CallbackSink() {
    http::ServerOptions options;
    options.threads = 1;
    auto server = http::Server::start(options, [this](const http::Request&, const http::Responder& respond) {
      ++received_;
      http::Response response;
      response.status = 204;
      respond(std::move(response));
    });
    CHECK(server);
    server_ = std::move(*server);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/"; }
  std::uint64_t received() const { return received_; }

 private:
  std::atomic<std::uint64_t> received_ = 0;
  std::unique_ptr<http::Server> server_;
};

// Postino with a sink of its own.
class Outbox {
 public:
  Outbox(const OutboxRace& race, const std::string& name, const std::vector<std::string>& flags = {})
      : server_(race.program, race.directory / name, sink_.port(), flags),
        load_(
            server_.port(), sending_clients, [](std::uint64_t number) { return email_request(number); },
            distinct_requests) {}

  pid_t process() const { return server_.process(); }
  double resident_megabytes() const { return server_.resident_megabytes(); }
  double best_acceptance() const { return best_acceptance_; }

  // Until the last one is at the sink.
  Work send(std::uint64_t emails) {
    const std::uint64_t before = sink_.received();
    const auto begin = Clock::now();
    post(emails);
    const auto end = sink_.await(before + emails);
    server_.await_none({"ACCEPTED", "INTAKING", "READY", "PROCESSING"});
    return {emails, end - begin};
  }

  // Until the last one is acknowledged. The states are asked for only when the callbacks have come.
  Work send_with_callbacks(std::uint64_t emails, const CallbackSink& callbacks) {
    const std::uint64_t before = callbacks.received();
    const std::int64_t acknowledged = server_.count({"SENT-ACKNOWLEDGED"}) + static_cast<std::int64_t>(emails);
    const auto begin = Clock::now();
    post(emails);
    while (callbacks.received() < before + emails) pause(begin);
    while (server_.count({"SENT-ACKNOWLEDGED"}) < acknowledged) pause(begin);
    return {emails, Clock::now() - begin};
  }

 private:
  void post(std::uint64_t emails) {
    const LoadResult result = load_.run_all(emails);
    expect_success(result, "POST /emails");
    best_acceptance_ = std::max(best_acceptance_, result.per_second);
  }

  static void pause(Clock::time_point begin) {
    CHECK(Clock::now() - begin < std::chrono::seconds(120));
    ::poll(nullptr, 0, 5);
  }

  SmtpSinkProcess sink_;
  OutboxServer server_;
  HttpLoad load_;
  double best_acceptance_ = 0;
};

Work relay(const OutboxRace& race, std::uint64_t messages, double& best_acceptance) {
  const std::uint64_t before = race.postfix_sink->received();
  const auto begin = Clock::now();
  const Work taken = race.postfix->take(messages, message_bytes, sending_clients, PostfixProcess::Then::deliver);
  best_acceptance = std::max(best_acceptance, static_cast<double>(messages) / taken.elapsed.count());
  return {messages, race.postfix_sink->await(before + messages) - begin};
}

}  // namespace

void race_delivery(OutboxRace& race) {
  const Plan plan = {.rounds = race.quick ? 1 : 2};
  const std::uint64_t emails = race.quick ? 1'000 : 5'000;
  const CallbackSink callbacks;
  Outbox plain(race, "send");
  Outbox calling(race, "call", {"--callback-url", callbacks.url(), "--callback-allow-private"});
  double postfix_acceptance = 0;
  std::vector<Racer> racers = {
      {[&](Duration) { return plain.send(emails); }, plain.process()},
      {[&](Duration) { return calling.send_with_callbacks(emails, callbacks); }, calling.process()}};
  if (race.postfix != nullptr)
    racers.push_back({[&](Duration) { return relay(race, emails, postfix_acceptance); }, race.postfix->process()});
  // All have run before it counts.
  plain.send(emails / 10);
  calling.send_with_callbacks(emails / 10, callbacks);
  if (race.postfix != nullptr) relay(race, emails / 10, postfix_acceptance);
  const std::vector<Pace> paces = race_processes(plan, racers);

  std::optional<Pace> other;
  if (race.postfix != nullptr) other = paces[2];
  const std::string count = std::to_string(emails);
  race.report.row(count + " e-mails accepted and sent, 16 clients", paces[0], other, 4.5);
  race.report.row(count + " e-mails accepted, sent and called back, 16 clients", paces[1], other, 3);
  const auto per_second = [](double rate) { return std::to_string(static_cast<long>(rate)) + "/s"; };
  race.report.fact(
      "  accepted while sending",
      per_second(plain.best_acceptance()) + (other ? "  Postfix " + per_second(postfix_acceptance) : std::string()));
  race.report.fact("  memory afterwards", std::to_string(static_cast<long>(plain.resident_megabytes())) + " MB");
}

}  // namespace postino::bench
