// How to reach a broker that speaks AMQP 1.0, and how much to bear with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "broker/protocol/failure.h"

namespace postino::broker {

inline constexpr std::size_t most_endpoints = 16;
inline constexpr std::size_t longest_host = 253;
inline constexpr std::size_t longest_credential = 4'096;  // of a user, a password and a virtual host

struct Endpoint {
  std::string host;           // a name or an IP address, without brackets
  std::uint16_t port = 5672;  // 5671 is the usual one with TLS

  std::string text() const;  // "broker.example:5672", "[::1]:5672"
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// What calls knock at: an endpoint, with or without TLS.
std::string door_of(const std::string& endpoint, bool has_tls);
std::vector<std::string> doors_of(const std::vector<Endpoint>& endpoints, bool has_tls);

enum class Mechanism {
  automatic,  // plain with a user, external with a certificate of our own, anonymous otherwise
  plain,      // user and password
  external,   // the certificate we show over TLS
  anonymous,
};

struct BrokerTls {
  bool enabled = false;
  // Brokers without a valid certificate for their name are refused, unless this is false: for tests alone.
  bool verify = true;
  std::string authorities_file;  // to trust besides those of the system (PEM)
  // The name that the certificate must have; empty: the endpoint's host. An endpoint given as an IP address needs it,
  // unless the certificate has the address as a DNS name or common name.
  std::string server_name;
  std::string certificate_file;  // our own (PEM), with its key, for brokers that ask
  std::string key_file;
  // A cipher suite by its name in the standards or OpenSSL, such as TLS_AES_256_GCM_SHA384 or
  // TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384; empty: any good one. Nothing below TLS 1.2 is spoken.
  std::string cipher_suite;
};

// How a queue's name becomes an address of AMQP.
enum class AddressStyle {
  // By what the broker says it is: RabbitMQ before 4.0 gets "/amq/queue/NAME", RabbitMQ from 4.0 on "/queues/NAME",
  // everybody else the bare name.
  automatic,
  rabbitmq,          // "/amq/queue/NAME"; a slash is written %2F, and only %2F cannot be part of a name
  rabbitmq_declare,  // "/queue/NAME": as before, but the queue is made, durable, when it is not there
  rabbitmq_4,        // "/queues/NAME", percent-encoded
  bare,              // the prefix and the name, as they are
};

struct ConnectionSettings {
  std::vector<Endpoint> endpoints;  // tried in this order
  // What we ask the broker for when we introduce ourselves; empty: the endpoint's host. RabbitMQ before 4.0 takes a
  // virtual host from it when it is written "vhost:NAME".
  std::string virtual_host;

  Mechanism mechanism = Mechanism::automatic;
  std::string user;
  std::string password;
  // Without TLS a password goes only to this machine, unless this is true.
  bool allow_password_in_clear = false;
  BrokerTls tls;

  AddressStyle address_style = AddressStyle::automatic;
  std::string address_prefix;  // for the style bare, for example "queue://"
  // RabbitMQ before 4.0 confirms what it is sent for a queue that is not there, and drops it. While producing we
  // therefore stay subscribed to the queue, taking nothing from it, so that this cannot happen unseen. (An auto-delete
  // queue without other subscribers goes when we do.) False: do not.
  bool guard_queue = true;
  // TEXT and JSON go as binary data with a content type, as most brokers and their other protocols expect; true: as an
  // AMQP string, which IBM MQ makes an MQSTR of.
  bool text_as_value = false;

  std::size_t max_message_bytes = 16 << 20;           // of a message with all that belongs to it
  std::chrono::milliseconds connect_timeout{10'000};  // for each address: connection, TLS, authentication, opening
  std::chrono::milliseconds answer_timeout{30'000};   // for the broker to answer anything else
  std::chrono::milliseconds idle_timeout{60'000};     // without a sign of life the connection counts as broken

  // Fails with the rule.
  Result<void> check() const;
};

}  // namespace postino::broker
