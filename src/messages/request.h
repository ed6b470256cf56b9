// What is asked of the message service, as JSON says it and checked: POST /messages/produce and POST /messages/consume.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "broker/broker.h"
#include "broker/queue_address.h"
#include "json/fields.h"
#include "messages/queue_layout.h"

namespace postino::messages {

// What requests are held to.
struct RequestLimits {
  static constexpr std::size_t name_bytes = 255;  // of a connection, and of what a queue manager has
  static constexpr std::size_t queue_bytes = broker::longest_queue_name;
  static constexpr std::size_t stored_queue_bytes = longest_stored_queue_name;  // of a queue in the store
  static constexpr std::size_t endpoints = broker::most_endpoints;
  static constexpr std::size_t host_bytes = broker::longest_host;
  static constexpr std::int64_t port = 65'535;
  static constexpr std::size_t user_bytes = 1'024;
  static constexpr std::size_t password_bytes = broker::longest_credential;
  static constexpr std::size_t id_bytes = broker::longest_message_text;  // of a message, and its content type
  static constexpr std::size_t templates = 1'000;                        // messages written out in a request
  static constexpr std::size_t body_bytes = 16 << 20;                    // of one message
  static constexpr std::size_t properties = 100;                         // of one message, and as many headers
  static constexpr std::int64_t total_messages = 1'000'000;
  static constexpr std::int64_t batch_size = 10'000;
  static constexpr std::int64_t concurrency = broker::ProduceOptions::most_connections;
  static constexpr std::int64_t max_messages = 10'000;  // of one consume
  static constexpr base::Milliseconds delay = broker::ProduceOptions::longest_delay;
  static constexpr base::Milliseconds time_to_live = std::chrono::hours(24 * 49);
  static constexpr base::Milliseconds wait = std::chrono::minutes(5);
};

// A broker that the request itself describes.
struct QueueManager {
  std::string name;                         // for people; AMQP has no use for it
  std::string channel;                      // likewise: IBM MQ's AMQP channels are told apart by their port
  std::vector<broker::Endpoint> endpoints;  // tried in their order
  std::string virtual_host;
  std::string user;
  std::string password;
  bool use_tls = false;
  std::string cipher_suite;

  friend bool operator==(const QueueManager&, const QueueManager&) = default;
};

// Where queues are: a connection of the configuration by its name (empty: the default one), or a queue manager.
struct Place {
  std::string connection;
  std::optional<QueueManager> queue_manager;

  friend bool operator==(const Place&, const Place&) = default;
};

// What both kinds of requests have.
struct Request {
  std::string key;   // idempotencyKey
  std::string hash;  // SHA-256 of the whole request in hex: the order of members, and spaces, make no difference
  Place place;
  std::string queue;
};

struct ProduceRequest : Request {
  std::string reply_to;
  std::vector<broker::Message> messages;  // without ids; cycled up to `total`
  std::size_t total = 0;
  std::size_t batch_size = 100;  // messages that may be unconfirmed at a time
  int concurrency = 1;           // connections to send on; with more than one the order is lost
  std::optional<base::Milliseconds> delay;
  std::optional<base::Milliseconds> time_to_live;
  bool persistent = true;
};

struct ConsumeRequest : Request {
  std::size_t max_messages = 1;
  base::Milliseconds wait{0};  // for the first message, and again for more
  bool auto_acknowledge = true;
};

// From a body in JSON. `header_key` is that of the header Idempotency-Key, empty when there is none: the body need not
// have the key then, but must not have another one. Notes every rule that is broken, with the path of the field
// ("messages[2].format"); nullopt when there is any.
std::optional<ProduceRequest> read_produce(std::string_view body, const std::string& header_key,
                                           json::FieldErrors& errors);
std::optional<ConsumeRequest> read_consume(std::string_view body, const std::string& header_key,
                                           json::FieldErrors& errors);
// Where the queue of such a request is, whatever else is wrong with it; nullopt when that cannot be told.
std::optional<Place> peek_place(std::string_view body);
// {"connection": "name"} or {"queueManager": {...}}, of POST /messages/connections/test.
std::optional<Place> read_place(std::string_view body, json::FieldErrors& errors);

}  // namespace postino::messages
