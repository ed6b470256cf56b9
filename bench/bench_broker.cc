// The client of brokers beside a bare program on Qpid Proton, on one RabbitMQ: persistent messages of 500 bytes, each
// confirmed; then received, and acknowledged in batches of 1,000.
//
//   bench_broker [--quick]
//
// RabbitMQ keeps its data on the file system of this program. Bare Proton is given its connection for free, does not
// look whether the queue is there, and does not wait for its acknowledgements to be taken. Without RabbitMQ there is
// nothing to measure. Missing a bar is no failure, because the machine is never quiet.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bare_proton.h"
#include "broker/amqp_client.h"
#include "rabbitmq_server.h"
#include "report.h"

namespace {

using postino::bench::BareProton;
using postino::bench::Duration;
using postino::bench::Plan;
using postino::bench::Report;
using postino::bench::Work;
using postino::broker::AmqpClient;
using postino::broker::Broker;
using postino::broker::RabbitmqServer;
using Clock = std::chrono::steady_clock;

constexpr double bar = 0.7;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

class BrokerRace {
 public:
  BrokerRace(RabbitmqServer& server, Broker& broker, bool quick)
      : server_(server), broker_(broker), plan_{.rounds = quick ? 2 : 5}, messages_(quick ? 2'000 : 10'000) {}

  void run(const std::string& kind, const std::string& arguments) {
    queue_ = kind;
    server_.declare(queue_, arguments);
    const BareProton bare(server_.port(), queue_);
    const auto sent = compete(plan_, {[&](Duration) { return emptied(send()); },
                                      [&](Duration) { return emptied(bare.send(messages_, body_)); }});
    report_.row("produce, " + kind, sent[0], sent[1], bar);
    const auto received = compete(plan_, {[&](Duration) { return filled([&] { return receive(); }); },
                                          [&](Duration) { return filled([&] { return bare.receive(messages_); }); }});
    report_.row("consume, " + kind, received[0], received[1], bar);
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

  Work receive() {
    const auto begin = Clock::now();
    for (std::uint64_t count = 0; count < messages_;) {
      const auto held = broker_.receive(
          queue_, {.max_messages = 1'000, .wait = std::chrono::minutes(1), .linger = std::chrono::minutes(1)});
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
  const auto client = AmqpClient::create({});
  if (!client) give_up(client.error().message);
  postino::broker::ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", server.port()}};
  settings.user = RabbitmqServer::user;
  settings.password = RabbitmqServer::password;
  const auto broker = (*client)->broker(settings);
  if (!broker) give_up(broker.error().message);
  Report::header("postino", "bare");
  BrokerRace race(server, **broker, quick);
  race.run("classic", "");
  race.run("quorum", R"("x-queue-type":"quorum")");
  std::printf("%d below their bar\n", race.below());
  return 0;
}
