#include "scripted_peer.h"

#include <proton/link.h>

#include <future>
#include <map>
#include <proton/connection.hpp>
#include <proton/connection_options.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/error_condition.hpp>
#include <proton/listen_handler.hpp>
#include <proton/listener.hpp>
#include <proton/message.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver.hpp>
#include <proton/receiver_options.hpp>
#include <proton/sender.hpp>
#include <proton/sender_options.hpp>
#include <proton/source.hpp>
#include <proton/source_options.hpp>
#include <proton/symbol.hpp>
#include <proton/target.hpp>
#include <proton/target_options.hpp>
#include <proton/tracker.hpp>
#include <proton/value.hpp>

#include "broker/message_codec.h"

namespace postino::broker {

namespace {

// The C++ library cannot say how large messages may be, and hides the object that could.
struct ProtonLink : proton::receiver {
  static pn_link_t* of(const proton::receiver& receiver) {
    const auto hidden = &ProtonLink::pn_object;
    return (receiver.*hidden)();
  }
};

}  // namespace

class ScriptedPeer::Handler : public proton::messaging_handler, public proton::listen_handler {
 public:
  explicit Handler(Script script) : script_(std::move(script)) {}

  void run() {
    container_.listen("127.0.0.1:0", *this);
    container_.run();
  }
  void stop() { container_.stop(); }
  std::uint16_t port() { return port_; }
  void await_port() { port_ = listening_.get_future().get(); }

  mutable std::mutex mutex_;
  std::vector<Message> messages_;
  std::vector<std::string> addresses_;
  Outcomes outcomes_;

 private:
  void on_open(proton::listener& listener) override {
    listening_.set_value(static_cast<std::uint16_t>(listener.port()));
  }

  proton::connection_options on_accept(proton::listener&) override {
    return proton::connection_options().handler(*this);
  }

  // Clients come and go as they like; a port that cannot be had is an error.
  using listen_handler::on_error;
  void on_error(const proton::error_condition&) override {}

  void on_connection_open(proton::connection& connection) override {
    if (script_.answers_nothing) return;
    std::vector<proton::symbol> capabilities;
    for (const std::string& name : script_.capabilities) capabilities.emplace_back(name);
    connection.open(proton::connection_options()
                        .offered_capabilities(capabilities)
                        .properties({{proton::symbol("product"), proton::value(script_.product)}}));
  }

  void on_receiver_open(proton::receiver& receiver) override {
    if (script_.refuses_links) {
      receiver.close(proton::error_condition("amqp:not-found", "there is nothing here"));
      return;
    }
    const std::string address = receiver.target().address();
    {
      const std::lock_guard lock(mutex_);
      addresses_.push_back(address);
    }
    proton::receiver_options options;
    options.target(proton::target_options().address(address)).credit_window(20).auto_accept(false);
    if (script_.max_message_size != 0) pn_link_set_max_message_size(ProtonLink::of(receiver), script_.max_message_size);
    receiver.open(options);
  }

  void on_sender_open(proton::sender& sender) override {
    sender.open(proton::sender_options().source(proton::source_options().address(sender.source().address())));
  }

  void on_sendable(proton::sender& sender) override {
    while (sender.credit() > 0 && next_ < script_.queue.size()) {
      proton::message message;
      message.decode(*encode(script_.queue[next_++], {}));
      sender.send(message);
    }
    if (is_draining_ && script_.drains) sender.return_credit();
  }

  // Not called each time, if all credit was used the time before.
  void on_sender_drain_start(proton::sender& sender) override {
    is_draining_ = true;
    on_sendable(sender);
  }

  void on_tracker_accept(proton::tracker&) override { count(outcomes_.accepted); }
  void on_tracker_release(proton::tracker&) override { count(outcomes_.released); }
  void on_tracker_reject(proton::tracker&) override { count(outcomes_.rejected); }
  void count(int& outcome) {
    const std::lock_guard lock(mutex_);
    ++outcome;
  }

  void on_message(proton::delivery& delivery, proton::message& message) override {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(decode(message.encode()));
    }
    switch (script_.reply(count_++)) {
      case Reply::accept:
        delivery.accept();
        break;
      case Reply::reject:
        delivery.reject();
        break;
      case Reply::release:
        delivery.release();
        break;
      case Reply::disconnect:
        delivery.connection().close(proton::error_condition("amqp:connection:forced", "enough"));
        break;
      case Reply::silence:
        break;
    }
  }

  const Script script_;
  proton::container container_;
  std::promise<std::uint16_t> listening_;
  std::uint16_t port_ = 0;
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // of the queue
  bool is_draining_ = false;
};

ScriptedPeer::ScriptedPeer(Script script) : handler_(std::make_unique<Handler>(std::move(script))) {
  thread_ = std::thread([this] { handler_->run(); });
  handler_->await_port();
}

ScriptedPeer::~ScriptedPeer() {
  handler_->stop();
  thread_.join();
}

ConnectionSettings ScriptedPeer::settings() const {
  ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", handler_->port()}};
  return settings;
}

std::vector<Message> ScriptedPeer::messages() const {
  const std::lock_guard lock(handler_->mutex_);
  return handler_->messages_;
}

ScriptedPeer::Outcomes ScriptedPeer::outcomes() const {
  const std::lock_guard lock(handler_->mutex_);
  return handler_->outcomes_;
}

std::vector<std::string> ScriptedPeer::addresses() const {
  const std::lock_guard lock(handler_->mutex_);
  return handler_->addresses_;
}

}  // namespace postino::broker
