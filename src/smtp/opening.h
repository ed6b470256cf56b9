// From a host's name to a session that takes messages.
#pragma once

#include <memory>

#include "smtp/capabilities.h"
#include "smtp/client.h"
#include "smtp/connection.h"

namespace postino::smtp {

struct OpenedConnection {
  std::unique_ptr<Connection> connection;
  Capabilities capabilities;
};

// Tries the addresses of the host in their order. See Session::open.
base::Result<OpenedConnection, Session::OpenFailure> open_connection(const Options& options, const net::ClientTls* tls);

}  // namespace postino::smtp
