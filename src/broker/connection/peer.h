// What a broker tells about itself when a connection is opened.
#pragma once

#include <set>
#include <string>

struct pn_connection_t;
struct pn_transport_t;

namespace postino::broker {

struct Peer {
  std::string host;  // that we asked for
  std::string product;
  std::string version;
  std::string container;
  std::set<std::string> capabilities;
  std::string mechanism;
  std::string tls_protocol;  // empty without TLS
  std::string tls_cipher;

  bool is_rabbitmq() const { return product == "RabbitMQ"; }
  // Its AMQP 1.0 was a plugin until then, which knows other addresses and has faults that we must work around.
  bool is_rabbitmq_before_4() const;
  bool is_azure() const;
};

// Once the broker has opened the connection.
Peer read_peer(pn_connection_t* connection, pn_transport_t* transport);

}  // namespace postino::broker
