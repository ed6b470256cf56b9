// Ports of 127.0.0.1, for servers that tests and benchmarks start and that must be told one before.
#pragma once

#include <cstdint>

namespace postino::net {

// A port that nothing is bound to, another one each time. It is outside the range that the system chooses from when a
// program binds to any port: so no other program takes it before the server does, or while the server is restarted.
std::uint16_t free_port();
// Does something take connections there?
bool is_listening(std::uint16_t port);

}  // namespace postino::net
