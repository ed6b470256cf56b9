// What a broker of a test says first to learn a password.
#pragma once

#include <string>

namespace postino::broker {

// AMQP's header for SASL, and a frame that offers PLAIN.
inline std::string offer_of_plain() {
  const std::string mechanisms = std::string("\x00\x53\x40\xC0\x08\x01\xA3\x05PLAIN", 13);
  std::string frame;
  const auto size = static_cast<char>(8 + mechanisms.size());
  frame.append(3, '\0').append(1, size).append("\x02\x01", 2).append(2, '\0').append(mechanisms);
  return std::string("AMQP\x03\x01\x00\x00", 8) + frame;
}

}  // namespace postino::broker
