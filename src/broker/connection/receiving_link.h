// Messages from a queue, held until they are settled.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "broker/connection/link.h"
#include "broker/protocol/message.h"

namespace postino::broker {

class ReceivingLink final : public Link {
 public:
  struct Limits {
    std::size_t messages = 0;
    std::size_t bytes = 0;          // the message that reaches it is the last; those that come nevertheless go back
    std::size_t message_bytes = 0;  // larger ones are not kept
    std::function<bool(std::size_t bytes)> room = {};  // as in ReceiveOptions
  };
  struct Incoming {
    std::vector<char> bytes;  // empty when it was too large
    std::size_t size = 0;
    pn_delivery_t* delivery = nullptr;  // the loop's thread
  };

  // Takes nothing until it is asked to.
  ReceivingLink(std::shared_ptr<Connection> connection, std::string address, bool durable);

  // Calling threads.

  void begin(const Limits& limits);
  // Until there is one, or until there are as many as the limits allow. It is no failure when they do not come in time,
  // or before it is told to stop.
  Result<void> await_first(Deadline deadline, const std::stop_token& stop);
  Result<void> await_all(Deadline deadline, const std::stop_token& stop = {});
  // Takes what the queue has right now, within the limits; after that nothing comes any more.
  Result<void> drain(Deadline deadline);
  // For brokers that cannot do that, but answer what they are asked: asks until the queue has left credit unused. More
  // may come after that.
  Result<void> exhaust(Deadline deadline);
  bool has_messages() const;
  // As many have come as may.
  bool is_satisfied() const;
  // What has come. If more does, it goes back.
  std::vector<Incoming> take();
  // More may be on its way, or has come, than was taken: it goes back with the end of the connection.
  bool has_loose_ends() const;
  // Closes the link as well, which confirms it.
  Result<void> settle(const std::vector<Incoming>& messages, const std::vector<Disposition>& dispositions,
                      Deadline deadline);

 private:
  pn_link_t* make(pn_session_t* session, const char* name) override;
  bool is_attached() const override;
  void on_flow() override;
  void on_delivery(pn_delivery_t* delivery) override;
  bool read(pn_delivery_t* delivery);
  void keep(pn_delivery_t* delivery);
  void give_back(pn_delivery_t* delivery);
  bool is_full() const;
  bool has_room();
  std::size_t credit_to_have() const;
  std::size_t credit_wanted() const;
  void give_credit();
  void check_drained();
  void ask(int credit);
  Result<void> await_quiet(Deadline deadline);
  bool probe();
  Result<void> await_in_vain(Deadline deadline, const std::stop_token& stop, const std::function<bool()>& ready);

  // RabbitMQ's plugin before 4.0 cannot drain classic queues, but it answers each change of the credit. Its count does
  // not include what the queue has sent and its session has not passed on: so it is asked for more only when nothing is
  // on its way. Otherwise it would send more than it was asked for, or have less than no credit, which it takes for no
  // limit at all.
  const bool is_answered_;
  const std::size_t most_credit_;

  // The connection's lock.
  Limits limits_;
  std::vector<Incoming> messages_;
  Incoming partial_;       // of which not all has come
  std::size_t bytes_ = 0;  // of messages_
  std::size_t largest_ = 0;
  std::size_t granted_ = 0;  // credit, in all
  std::size_t arrived_ = 0;  // deliveries, in all
  std::size_t taken_ = 0;    // messages
  bool is_asking_ = false;   // and has no answer yet; only of brokers that give one
  std::size_t answers_ = 0;
  std::optional<std::size_t> probed_;  // arrived_ when it was asked last, although it had not sent what it may
  bool draining_ = false;
  bool is_empty_ = false;  // the queue was, when it was drained
  bool drained_ = false;
  bool is_taken_ = false;
  bool lacks_room_ = false;  // for the next message
};

}  // namespace postino::broker
