// A connection to a broker. A calling thread asks for things and waits; the loop's thread does them, and it alone
// touches Proton's objects.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "broker/connection/peer.h"
#include "broker/connection/tls_domain.h"
#include "broker/protocol/failure.h"

struct pn_condition_t;
struct pn_connection_t;
struct pn_event_t;
struct pn_link_t;
struct pn_proactor_t;
struct pn_session_t;
struct pn_transport_t;

namespace postino::broker {

class Link;

using Deadline = std::chrono::steady_clock::time_point;

// What a connection begins with.
struct OpenParameters {
  std::string address;   // "127.0.0.1:5672"
  std::string endpoint;  // as it was configured, for people
  std::string host;      // of the endpoint
  std::string server_name;
  std::string virtual_host;
  std::string mechanism;  // "PLAIN"
  std::string user;
  std::string password;
  std::shared_ptr<TlsDomain> tls;  // null: none
  std::chrono::milliseconds idle_timeout{60'000};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(OpenParameters parameters);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Calling threads.

  // Until the broker has let us in.
  Result<void> await_open(Deadline deadline);
  // Once it is open.
  const Peer& peer() const { return peer_; }
  const std::string& endpoint() const { return parameters_.endpoint; }
  // Open, and nothing has gone wrong yet.
  bool is_usable() const;

  // Done soon by the loop's thread, with the lock held; not at all when the connection is over.
  void post(std::function<void()> task);
  // Calls on_wake of all links, in the same way.
  void wake_links();
  // Waits until `ready`, which is called with the lock held. Fails with what has ended the connection, or timed_out.
  Result<void> await(Deadline deadline, const std::function<bool()>& ready, std::string_view what);
  // So that they look again whether they are ready.
  void wake_waiting() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  template <class Action>
  auto locked(Action action) const {
    const std::lock_guard lock(mutex_);
    return action();
  }
  void open_link(const std::shared_ptr<Link>& link);

  // Says goodbye and does not wait. With abort nothing is said, and what the broker has not heard yet is lost.
  void close();
  void abort();
  // Closes it, and waits for the broker to have done so.
  void end(Deadline deadline);

  // The loop's thread.

  // Takes up the connection. False when it is over before it began.
  bool start(pn_proactor_t* proactor);
  // Returns true when it was the last event.
  bool handle(pn_event_t* event);
  // Wakes those who wait for what the events have brought.
  void finish_batch();
  // Breaks off a goodbye that takes too long.
  void hurry(Deadline now);

  // With the lock held: wakes the callers that wait for what has changed.
  void note_change() { changed_in_batch_ = true; }
  void forget(const Link* link);

 private:
  enum class State { connecting, open, closing, over };

  bool set_up();
  bool read_tls();
  void on_wake();
  void on_remote_open();
  void on_session_open();
  void on_over();
  void on_remote_end(pn_condition_t* condition, const char* what);
  void on_link_event(pn_event_t* event);
  void fail(Failure failure);
  void wake();
  Failure transport_failure() const;
  static void keep_log(std::intptr_t connection, const char* message);

  const OpenParameters parameters_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::connecting;
  bool started_ = false;  // Proton has it, and it may be woken
  bool must_abort_ = false;
  std::optional<Failure> failure_;
  std::vector<std::function<void()>> tasks_;
  std::vector<std::shared_ptr<Link>> links_;
  Deadline closing_ends_{};

  Peer peer_;  // written once, before state_ becomes open

  // The loop's thread alone.
  pn_connection_t* connection_ = nullptr;
  pn_transport_t* transport_ = nullptr;
  pn_session_t* session_ = nullptr;
  bool changed_in_batch_ = false;
  std::string log_;  // Proton's last complaint
};

// What AMQP's errors mean to us; `otherwise` for those that have no meaning of their own.
Failure to_failure(pn_condition_t* condition, FailureKind otherwise, std::string_view what);

}  // namespace postino::broker
