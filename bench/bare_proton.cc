#include "bare_proton.h"

#include <cstdio>
#include <cstdlib>
#include <proton/binary.hpp>
#include <proton/connection.hpp>
#include <proton/connection_options.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/error_condition.hpp>
#include <proton/message.hpp>
#include <proton/message_id.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver.hpp>
#include <proton/receiver_options.hpp>
#include <proton/sender.hpp>
#include <proton/tracker.hpp>

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

class Handler : public proton::messaging_handler {
 public:
  Handler(std::uint16_t port, const std::string& queue, std::uint64_t messages)
      : messages_(messages), port_(port), address_("/amq/queue/" + queue) {}

  Work run() {
    proton::container container(*this);
    container.run();
    return {messages_, end_ - begin_};
  }

 protected:
  virtual void open_link(proton::connection& connection) = 0;

  const std::string& address() const { return address_; }
  void begin() { begin_ = Clock::now(); }
  // Another message is done with.
  void count(proton::connection connection) {
    if (++done_ < messages_) return;
    end_ = Clock::now();
    connection.close();
  }

  const std::uint64_t messages_;

 private:
  void on_container_start(proton::container& container) override {
    proton::connection_options options;
    options.user("guest").password("guest").sasl_allow_insecure_mechs(true).sasl_allowed_mechs("PLAIN");
    container.connect("amqp://127.0.0.1:" + std::to_string(port_), options);
  }
  void on_connection_open(proton::connection& connection) override { open_link(connection); }
  void on_error(const proton::error_condition& error) override {
    std::fprintf(stderr, "bench: bare Proton failed: %s\n", error.what().c_str());
    std::exit(1);
  }

  const std::uint16_t port_;
  const std::string address_;
  std::uint64_t done_ = 0;
  Clock::time_point begin_, end_;
};

class Sender final : public Handler {
 public:
  Sender(std::uint16_t port, const std::string& queue, std::uint64_t messages, const std::string& body)
      : Handler(port, queue, messages), body_(body) {}

 private:
  void open_link(proton::connection& connection) override { connection.open_sender(address()); }
  void on_sender_open(proton::sender&) override { begin(); }
  void on_sendable(proton::sender& sender) override {
    while (sender.credit() > 0 && sent_ < messages_) {
      proton::message message;
      message.id("message-" + std::to_string(sent_++));
      message.durable(true);
      message.content_type("text/plain");
      message.inferred(true);
      message.body(proton::binary(body_));
      sender.send(message);
    }
  }
  void on_tracker_accept(proton::tracker& tracker) override { count(tracker.connection()); }

  const std::string& body_;
  std::uint64_t sent_ = 0;
};

class Receiver final : public Handler {
 public:
  using Handler::Handler;

 private:
  void open_link(proton::connection& connection) override {
    connection.open_receiver(address(), proton::receiver_options().credit_window(500));
  }
  void on_receiver_open(proton::receiver&) override { begin(); }
  void on_message(proton::delivery& delivery, proton::message&) override { count(delivery.connection()); }
};

}  // namespace

Work BareProton::send(std::uint64_t messages, const std::string& body) const {
  return Sender(port_, queue_, messages, body).run();
}

Work BareProton::receive(std::uint64_t messages) const { return Receiver(port_, queue_, messages).run(); }

}  // namespace postino::bench
