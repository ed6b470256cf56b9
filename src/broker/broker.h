// Queues of messages: the interface that services know. Implementations: AMQP 1.0 (amqp_client.h), and whatever else
// can keep messages.
//
// Every call is synchronous, ends within its time limits, and is safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "broker/protocol/failure.h"
#include "broker/protocol/message.h"

namespace postino::broker {

using Milliseconds = std::chrono::milliseconds;

// What to produce: messages by their position, so that a million of them need not be there at once. `at` is called
// on threads of the call, by one at a time, with positions in no particular order and more than once for some.
struct Messages {
  std::size_t count = 0;
  std::function<Message(std::size_t position)> at;

  static Messages of(std::vector<Message> list);
};

struct ProduceOptions {
  static constexpr int most_connections = 16;
  static constexpr Milliseconds longest_delay = std::chrono::hours(24 * 365);

  std::size_t first = 0;  // position to begin with: those before it were confirmed by an earlier call
  bool persistent = true;
  std::optional<Milliseconds> time_to_live;
  std::optional<Milliseconds> delay;  // before the broker gives them out; unsupported where it cannot

  std::size_t window = 1'000;  // messages that may be unconfirmed at a time, on each connection
  int connections = 1;         // to send on at the same time; with more than one their order is lost
  int reconnects = 3;          // how often each may be replaced when it breaks; what was unconfirmed goes out again
  Milliseconds reconnect_time{30'000};  // to try, each time, when the broker cannot be reached any more
  Milliseconds time_limit{120'000};     // for the whole
  // Asked before each message is sent, on threads of the call, by several at a time. False ends the call. Empty: it may
  // always be sent.
  std::function<bool()> may_send = {};
};

// The rules that every broker holds its callers to: invalid, with the one that is broken.
Result<void> check(const Messages& messages, const ProduceOptions& options);

// What became of a message, as far as we know.
enum class SendState : std::uint8_t {
  unsent,
  in_doubt,   // sent, but neither confirmed nor rejected
  confirmed,  // the broker has taken responsibility for it
  rejected,
};

struct ProduceReport {
  std::vector<SendState> states;   // by position; those before options.first are confirmed
  std::size_t confirmed = 0;       // how many there are of it
  std::size_t prefix = 0;          // all before this position are confirmed: where another call goes on
  std::size_t sent_again = 0;      // after a connection broke: these may be there twice, with the same id
  std::optional<Failure> failure;  // why not all are confirmed

  bool complete() const { return !failure && confirmed == states.size(); }
};

// Told when the prefix has grown, on a thread of the call, one call at a time. Until it returns no more than a window
// is sent on each connection: what the caller has made durable here need never be sent again. False ends the call.
using OnConfirmed = std::function<bool(std::size_t prefix)>;

struct ReceiveOptions {
  std::size_t max_messages = 1;
  std::size_t max_bytes = 64 << 20;  // of bodies; ends the call early, with a little more than that at most
  Milliseconds wait{0};              // for the first message
  // For more, counted from the first one. 0: takes what is there at once.
  Milliseconds linger{0};
  std::stop_token stop;  // ends the waiting, as if its time were over
  // Asked before each message is kept, with its size, by one thread at a time. False: the message goes back, and the
  // call ends with those before it. Empty: there is always room.
  std::function<bool(std::size_t bytes)> room = {};
};

Result<void> check(const ReceiveOptions& options);

// Messages that were received and are kept from others until they are settled. Those that are not settled when this
// goes away return to the queue. One thread at a time.
class Held {
 public:
  virtual ~Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const std::vector<Message>& messages() const { return messages_; }

  // False: others may have been given them, because this process was stopped for too long. Who finds that does nothing
  // with them.
  virtual bool are_kept() const { return true; }

  // One disposition for each message. Returns when the broker has confirmed them all; after a failure those that it has
  // not confirmed may be given out again. Call it once.
  virtual Result<void> settle(const std::vector<Disposition>& dispositions) = 0;
  Result<void> acknowledge() { return settle_all(Disposition::acknowledge); }
  Result<void> release() { return settle_all(Disposition::release); }

 protected:
  explicit Held(std::vector<Message> messages) : messages_(std::move(messages)) {}

 private:
  Result<void> settle_all(Disposition disposition) {
    return settle(std::vector<Disposition>(messages_.size(), disposition));
  }

  const std::vector<Message> messages_;
};

struct Depth {
  std::uint64_t ready = 0;  // messages that wait; those that a consumer holds do not count
};

// Who answered.
struct Identity {
  std::string endpoint;
  std::string product;    // "RabbitMQ"; empty when it does not say
  std::string version;    // "3.10.8"
  std::string container;  // the name it goes by
  std::string mechanism;  // how we authenticated: "PLAIN"
  std::string tls;        // "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty without
  Milliseconds elapsed{0};
};

class Broker {
 public:
  virtual ~Broker() = default;

  // Sends the messages from options.first on and waits for the broker to confirm them. Stops at the first that it
  // rejects, or that breaks a rule. `queue` must be there already.
  virtual ProduceReport produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                                const OnConfirmed& on_confirmed = nullptr) = 0;

  // Never null. There may be no messages in it, which is no failure.
  virtual Result<std::unique_ptr<Held>> receive(const std::string& queue, const ReceiveOptions& options) = 0;

  // unsupported where the broker does not tell.
  virtual Result<Depth> depth(const std::string& queue) = 0;

  // Connects, authenticates, and says who is there.
  virtual Result<Identity> test() = 0;
};

}  // namespace postino::broker
