// How a connection comes into being: the handshake, the version, the settings of the session.
#pragma once

#include <cstdint>

#include "mysql/client_library.h"
#include "mysql/flavour.h"
#include "mysql/server_options.h"

namespace postino::mysql {

struct OpenedConnection {
  explicit OpenedConnection(std::shared_ptr<OpenSockets> sockets) : entry(std::move(sockets)) {}

  ConnectionHandle handle;
  SocketEntry entry;
  Flavour flavour;
};

// A session that is set up. Messages say where it was tried.
Result<OpenedConnection> connect(const ServerOptions& options);

// A statement without parameters and without rows.
Result<void> send_text(MYSQL* connection, std::string_view sql);

}  // namespace postino::mysql
