// Where the database is, and how to get in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "mysql/open_sockets.h"

namespace postino::mysql {

enum class TlsMode {
  off,
  preferred,  // when the server can; who stands in between can say that it cannot
  required,   // with any certificate
  verified,   // with a certificate for the host's name, from an authority in ca_file (empty: those the system trusts)
};

struct TlsOptions {
  TlsMode mode = TlsMode::preferred;
  std::string ca_file;
  std::string certificate_file;  // ours, where the server asks for one
  std::string key_file;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 3306;
  std::string socket;  // when given, host and port are not used
  std::string user;
  std::string password;
  std::string database;
  TlsOptions tls;  // not used on a socket
  base::Milliseconds connect_timeout{5'000};
  // How long a statement may take on the server; 0 is no limit. The connection gives up somewhat later, should the
  // server be silent.
  base::Milliseconds statement_timeout{10'000};
  // How long a statement waits for what others have locked. The server counts whole seconds, at least one. At most half
  // of statement_timeout is used: an error that names the lock is better than one that names the time.
  base::Milliseconds lock_timeout{3'000};
  // Where connections are registered, to be broken off together; may be null.
  std::shared_ptr<OpenSockets> sockets;
};

// For messages: "127.0.0.1:3306" or the path of the socket.
std::string address_of(const ServerOptions& options);

}  // namespace postino::mysql
