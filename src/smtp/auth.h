// Proving to a server who we are (RFC 4954).
#pragma once

#include <chrono>
#include <string>

#include "net/address.h"
#include "smtp/capabilities.h"
#include "smtp/connection.h"

namespace postino::smtp {

// A password goes to a peer that TLS has shown to be the right one, or stays on this machine.
bool may_send_password(bool verified, const net::Address& peer);

// With PLAIN, or LOGIN where the server does not know that. Returns the reply that ended it, which has code 0 when the
// server knows neither.
Reply authenticate(Connection& connection, const Capabilities& capabilities, const std::string& user,
                   const std::string& password, std::chrono::milliseconds timeout);

}  // namespace postino::smtp
