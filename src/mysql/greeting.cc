#include "mysql/greeting.h"

#include <cstddef>

namespace postino::mysql {

namespace {

constexpr std::size_t header_bytes = 4;  // of a packet: length and number
constexpr unsigned protocol_version = 10;
constexpr unsigned error_mark = 0xFF;
constexpr std::size_t longest_version = 512;            // of the server, as text
constexpr std::size_t before_capabilities = 4 + 8 + 1;  // behind the version: the connection's id, a challenge, a zero
constexpr unsigned tls_capability = 0x0800;

unsigned byte_at(std::string_view bytes, std::size_t place) { return static_cast<unsigned char>(bytes[place]); }

}  // namespace

Greeting read_greeting(std::string_view bytes) {
  if (bytes.size() <= header_bytes) return Greeting::incomplete;
  if (byte_at(bytes, header_bytes) == error_mark) return Greeting::error;
  if (byte_at(bytes, header_bytes) != protocol_version) return Greeting::plain;
  const std::string_view version = bytes.substr(header_bytes + 1);
  const std::size_t end = version.find('\0');
  if (end == version.npos) return version.size() > longest_version ? Greeting::plain : Greeting::incomplete;
  const std::string_view rest = version.substr(end + 1);
  if (rest.size() < before_capabilities + 2) return Greeting::incomplete;
  const unsigned capabilities = byte_at(rest, before_capabilities) | byte_at(rest, before_capabilities + 1) << 8;
  return (capabilities & tls_capability) != 0 ? Greeting::offers_tls : Greeting::plain;
}

}  // namespace postino::mysql
