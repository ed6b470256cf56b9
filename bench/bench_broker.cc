// What callers of POST /messages/produce and /messages/consume get, beside the client of brokers that serves them,
// beside a bare program on Qpid Proton. All are on one RabbitMQ: persistent messages of 500 bytes, each confirmed; then
// received, and acknowledged in batches of 1,000.
//
//   bench_broker [--quick]
//
// RabbitMQ keeps its data on the file system of this program. Bare Proton is given its connection for free, does not
// look whether the queue is there, and does not wait for its acknowledgements to be taken. The API is that of a server
// with all its synced records: each call takes its key, notes its progress and keeps its answer. (The processor time in
// its rows is that of the caller.) Without RabbitMQ there is nothing to measure. Missing a bar is no failure, because
// the machine is never quiet.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bare_proton.h"
#include "base/temporary_directory.h"
#include "broker/amqp_client.h"
#include "http_load.h"
#include "net/local_ports_testing.h"
#include "rabbitmq_server.h"
#include "report.h"
#include "server_process.h"

namespace {

using postino::bench::ApiRequest;
using postino::bench::BareProton;
using postino::bench::Duration;
using postino::bench::HttpLoad;
using postino::bench::LoadResult;
using postino::bench::Plan;
using postino::bench::Report;
using postino::bench::ServerProcess;
using postino::bench::Work;
using postino::broker::AmqpClient;
using postino::broker::Broker;
using postino::broker::RabbitmqServer;
using Clock = std::chrono::steady_clock;

constexpr double bar = 0.7;
constexpr std::uint64_t batch = 1'000;  // messages received at a time
constexpr int callers = 16;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

// Callers of the API of a server as users run it.
class ApiCallers {
 public:
  ApiCallers(const std::filesystem::path& program, const RabbitmqServer& broker)
      : directory_(program.parent_path()), server_(command(program, net_port_, broker.port()), net_port_) {}

  // Messages by one call; and calls of one message each, many at a time.
  Work produce(const std::string& queue, std::uint64_t messages, const std::string& body) {
    HttpLoad load = caller(1, produce_request(queue, messages, body));
    return {messages, timed([&] { expect_success(load.run_all(1)); })};
  }
  Work produce_one_by_one(const std::string& queue, const std::string& body, Duration turn) {
    HttpLoad load = caller(callers, produce_request(queue, 1, body));
    LoadResult result;
    const auto time = timed([&] { result = load.run(turn); });
    expect_success(result);
    return {result.answers, time};
  }
  Work consume(const std::string& queue, std::uint64_t messages) {
    HttpLoad load = caller(1, consume_request(queue));
    return {messages, timed([&] { expect_success(load.run_all(messages / batch)); })};
  }

 private:
  std::vector<std::string> command(const std::filesystem::path& program, std::uint16_t port,
                                   std::uint16_t broker_port) const {
    return {program,
            "serve",
            "--data",
            directory_.path() / "data",
            "--dynamodb",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:" + std::to_string(port),
            "--connection",
            std::string("broker=amqp://") + RabbitmqServer::user + ":" + RabbitmqServer::password +
                "@127.0.0.1:" + std::to_string(broker_port)};
  }

  // A key that no other call has.
  std::string head(const std::string& queue) {
    return R"({"idempotencyKey":")" + std::to_string(++loads_) + "-" + std::string(postino::bench::fresh_number) +
           R"(","connection":"broker","target":{"queueName":")" + queue + R"("},)";
  }
  ApiRequest produce_request(const std::string& queue, std::uint64_t messages, const std::string& body) {
    return {.target = "",
            .body = head(queue) + R"("settings":{"totalMessages":)" + std::to_string(messages) +
                    R"(,"batchSize":5000},"messages":[{"body":")" + body + R"("}]})",
            .path = "/messages/produce"};
  }
  ApiRequest consume_request(const std::string& queue) {
    return {
        .target = "",
        .body = head(queue) + R"("settings":{"maxMessages":)" + std::to_string(batch) + R"(,"waitTimeout":"PT1M"}})",
        .path = "/messages/consume"};
  }
  HttpLoad caller(int connections, const ApiRequest& request) const {
    return {server_.port(), connections, [&](std::uint64_t) { return request; }, 1};
  }
  static void expect_success(const LoadResult& result) {
    if (result.failures > 0) give_up("a call failed");
  }
  template <class Action>
  static Clock::duration timed(const Action& action) {
    const auto begin = Clock::now();
    action();
    return Clock::now() - begin;
  }

  const std::uint16_t net_port_ = postino::net::free_port();
  const postino::base::TemporaryDirectory directory_;
  const ServerProcess server_;
  int loads_ = 0;
};

class BrokerRace {
 public:
  BrokerRace(RabbitmqServer& server, Broker& broker, ApiCallers& api, bool quick)
      : server_(server),
        broker_(broker),
        api_(api),
        plan_{.rounds = quick ? 2 : 5},
        messages_(quick ? 2'000 : 10'000) {}

  void run(const std::string& kind, const std::string& arguments) {
    queue_ = kind;
    server_.declare(queue_, arguments);
    const BareProton bare(server_.port(), queue_);
    const auto sent = compete(plan_, {[&](Duration) { return emptied(send()); },
                                      [&](Duration) { return emptied(bare.send(messages_, body_)); },
                                      [&](Duration) { return emptied(api_.produce(queue_, messages_, body_)); }});
    const auto received =
        compete(plan_, {[&](Duration) { return filled([&] { return receive(); }); },
                        [&](Duration) { return filled([&] { return bare.receive(messages_); }); },
                        [&](Duration) { return filled([&] { return api_.consume(queue_, messages_); }); }});
    const auto single = postino::bench::by_threads(callers, [&] { return [&] { send_one(); }; });
    const auto called =
        compete(plan_, {[&](Duration turn) { return emptied(single(turn)); },
                        [&](Duration turn) { return emptied(api_.produce_one_by_one(queue_, body_, turn)); }});
    Report::header("client", "bare");
    report_.row("produce, " + kind, sent[0], sent[1], bar);
    report_.row("consume, " + kind, received[0], received[1], bar);
    Report::header("API", "client");
    report_.row("produce by one call, " + kind, sent[2], sent[0]);
    report_.row("consume by calls of 1,000, " + kind, received[2], received[0]);
    report_.row(postino::bench::with_threads("produce by calls of one message, " + kind, callers), called[1],
                called[0]);
  }

  int below() const { return report_.below(); }

 private:
  Work send() {
    const postino::broker::Messages messages{messages_, [&](std::size_t position) {
                                               postino::broker::Message message;
                                               message.id = "message-" + std::to_string(position);
                                               message.body = body_;
                                               return message;
                                             }};
    const auto begin = Clock::now();
    const auto report = broker_.produce(queue_, messages, {.window = 5'000});
    if (!report.complete()) give_up(report.failure->message);
    return {messages_, Clock::now() - begin};
  }

  void send_one() {
    postino::broker::Message message;
    message.id = "message";
    message.body = body_;
    const auto report = broker_.produce(queue_, postino::broker::Messages::of({std::move(message)}), {});
    if (!report.complete()) give_up(report.failure->message);
  }

  Work receive() {
    const auto begin = Clock::now();
    for (std::uint64_t count = 0; count < messages_;) {
      const auto held = broker_.receive(
          queue_, {.max_messages = batch, .wait = std::chrono::minutes(1), .linger = std::chrono::minutes(1)});
      if (!held) give_up(held.error().message);
      if (const auto settled = (*held)->acknowledge(); !settled) give_up(settled.error().message);
      count += (*held)->messages().size();
    }
    return {messages_, Clock::now() - begin};
  }

  // No round finds what another has left.
  Work emptied(Work work) {
    if (server_.manage("DELETE", "/api/queues/%2F/" + queue_ + "/contents") != 204) give_up("the queue is not emptied");
    return work;
  }
  template <class Action>
  Work filled(Action action) {
    send();
    return action();
  }

  RabbitmqServer& server_;
  Broker& broker_;
  ApiCallers& api_;
  const Plan plan_;
  const std::uint64_t messages_;
  const std::string body_ = std::string(500, 'x');
  std::string queue_;
  Report report_;
};

}  // namespace

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view(arguments[1]) == "--quick";
  if (count > 1 && !quick) {
    std::fprintf(stderr, "usage: bench_broker [--quick]\n");
    return 2;
  }
  if (!RabbitmqServer::is_installed()) {
    std::fprintf(stderr, "bench: RabbitMQ is not installed, so there is nothing to measure\n");
    return 0;
  }
  RabbitmqServer server;
  ApiCallers api(std::filesystem::absolute(arguments[0]).parent_path() / "postino", server);
  const auto client = AmqpClient::create({});
  if (!client) give_up(client.error().message);
  postino::broker::ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", server.port()}};
  settings.user = RabbitmqServer::user;
  settings.password = RabbitmqServer::password;
  const auto broker = (*client)->broker(settings);
  if (!broker) give_up(broker.error().message);
  BrokerRace race(server, **broker, api, quick);
  race.run("classic", "");
  race.run("quorum", R"("x-queue-type":"quorum")");
  std::printf("%d below their bar\n", race.below());
  return 0;
}
