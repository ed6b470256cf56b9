// One direction of messages between us and a queue.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "broker/connection/connection.h"
#include "broker/protocol/failure.h"

struct pn_delivery_t;
struct pn_event_t;
struct pn_link_t;
struct pn_session_t;

namespace postino::broker {

class Link : public std::enable_shared_from_this<Link> {
 public:
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const std::string& address() const { return address_; }

  // Calling threads.

  Result<void> await_open(Deadline deadline);
  // Waits for the broker to have closed it too. As it does one thing after the other, it has then done everything that
  // it was told here before.
  Result<void> close(Deadline deadline);

  // The loop's thread, with the connection's lock held.

  void start(pn_session_t* session);
  void handle(pn_event_t* event);
  virtual void on_wake() {}
  void on_over() { link_ = nullptr; }

 protected:
  // Durable ends are for brokers that make the queue.
  Link(std::shared_ptr<Connection> connection, std::string address, bool durable)
      : connection_(std::move(connection)), address_(std::move(address)), durable_(durable) {}

  // Waits until `ready`, which is called with the lock held. Fails with what has ended the link or the connection.
  Result<void> await(Deadline deadline, const std::function<bool()>& ready, std::string_view what);

  // Without the context and still closed.
  virtual pn_link_t* make(pn_session_t* session, const char* name) = 0;
  // Has the broker really attached what we asked for?
  virtual bool is_attached() const = 0;
  virtual void on_open() {}
  virtual void on_flow() {}
  virtual void on_delivery(pn_delivery_t*) {}

  const std::shared_ptr<Connection> connection_;
  const std::string address_;
  const bool durable_;
  // The loop's thread alone; null before it is started and after it is over.
  pn_link_t* link_ = nullptr;

 private:
  enum class State { asked, open, closed };

  void on_remote_end();

  State state_ = State::asked;  // the connection's lock
  bool closing_ = false;        // we asked for it
  std::optional<Failure> failure_;
};

}  // namespace postino::broker
