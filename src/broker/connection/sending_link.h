// Messages to a queue, each confirmed by the broker.
#pragma once

#include <deque>
#include <vector>

#include "broker/connection/link.h"

namespace postino::broker {

class SendingLink final : public Link {
 public:
  SendingLink(std::shared_ptr<Connection> connection, std::string address, bool durable)
      : Link(std::move(connection), std::move(address), durable) {}

  struct Outgoing {
    std::size_t position = 0;
    std::vector<char> bytes;
  };
  struct Outcome {
    std::size_t position = 0;
    bool confirmed = false;
    std::string reason;  // why not
  };

  // Calling threads.

  // Sent as soon as the broker gives credit for them.
  void offer(std::vector<Outgoing> messages);
  // At least one; fails when there will be none any more.
  Result<std::vector<Outcome>> take(Deadline deadline);
  // That the broker takes; 0 when it does not say. Once it is open.
  std::uint64_t largest_message() const;

  void on_wake() override { flush(); }

 private:
  pn_link_t* make(pn_session_t* session, const char* name) override;
  bool is_attached() const override;
  void on_open() override;
  void on_flow() override { flush(); }
  void on_delivery(pn_delivery_t* delivery) override;
  void flush();

  // The connection's lock.
  std::deque<Outgoing> waiting_;
  std::vector<Outcome> outcomes_;
  std::uint64_t largest_message_ = 0;

  std::uint64_t tag_ = 0;  // the loop's thread
};

}  // namespace postino::broker
