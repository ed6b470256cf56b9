// Sends the messages of a production over one connection, and over another one when that breaks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/connection/connector.h"
#include "broker/connection/receiving_link.h"
#include "broker/connection/sending_link.h"
#include "broker/message_codec.h"
#include "broker/production.h"

namespace postino::broker {

class Producer {
 public:
  // One that only helps others leaves it to them when it finds no connection.
  enum class Role { leads, helps };
  Producer(const Connector& connector, const std::string& queue, const ProduceOptions& options, Deadline deadline,
           Production& production, Role role);

  // Until there is nothing left to send, or the production is stopped. Tells when it is connected for the first time.
  void run(std::function<void()> on_connected = nullptr);

 private:
  Result<Lease> connect();
  Result<Lease> reconnect();
  // Sends what there is over this connection. Fails when that breaks.
  Result<void> work(Lease& lease);
  Result<void> open(const Lease& lease);
  Result<void> open_guard(const std::shared_ptr<Connection>& connection, const std::string& address, bool durable);
  Result<void> choose_encoding(const Peer& peer);
  void fill();
  Result<void> settle();
  Result<void> close();
  bool may_go_on(const Failure& failure, const Lease& lease);
  // Was the connection broken off as RabbitMQ before 4.0 does it when a queue rejects messages?
  bool looks_rejected(const Failure& failure, const Lease& lease) const;
  // If it lets us in again at once, it was. Ends the production then.
  bool ends_rejected();
  Deadline soon() const;

  const Connector& connector_;
  const std::string& queue_;
  const ProduceOptions& options_;
  const Deadline deadline_;
  Production& production_;
  const Role role_;

  Encoding encoding_;
  bool guards_ = true;
  int breaks_ = 0;

  // Of the connection that is used.
  bool is_open_ = false;
  Deadline last_news_{};  // when messages were last sent or confirmed
  std::shared_ptr<ReceivingLink> guard_;
  std::shared_ptr<SendingLink> link_;
  std::unordered_map<std::size_t, std::size_t> unconfirmed_;  // positions, and their bytes
  std::size_t unconfirmed_bytes_ = 0;
};

}  // namespace postino::broker
