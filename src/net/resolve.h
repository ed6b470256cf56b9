// Names of machines, and which addresses belong to networks that a stranger must not reach through us.
#pragma once

#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/client_stream.h"

namespace postino::net {

// All addresses of the name, in the order they should be tried; an IP address stands for itself. io when there are none
// or the deadline, or the shutdown deadline, passes.
base::Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, Deadline deadline,
                                           const ShutdownDeadline* shutdown_deadline = nullptr);

// False for loopback, private, link-local, shared, multicast, reserved and documentation ranges of IPv4 and IPv6, and
// for IPv6 addresses that embed such an IPv4 address. See the registries of special-purpose addresses.
bool is_public(const Address& address);

// Does it lead into such a network, as far as that can be told without asking anyone? True for an IP address that is
// not public, and for localhost. Other names are not judged.
bool is_surely_private(const std::string& host);

}  // namespace postino::net
