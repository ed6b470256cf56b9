// Ports of 127.0.0.1, for servers that tests and benchmarks start and that must be told one before.
#pragma once

#include <cstdint>

namespace postino::net {

// A port that nothing is bound to, another one each time. It is none of those that the system gives to
// whoever asks for any: so nobody takes it before the server does, or while that is restarted.
std::uint16_t free_port();
// Does something take connections there?
bool is_listening(std::uint16_t port);

}  // namespace postino::net
