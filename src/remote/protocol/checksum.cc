#include "remote/protocol/checksum.h"

#include <zlib.h>

#include <charconv>
#include <cstdint>

namespace postino::remote {

bool has_right_checksum(std::string_view header, std::string_view body) {
  if (header.empty()) return true;
  std::uint32_t told = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), told);
  if (error != std::errc() || end != header.data() + header.size()) return false;
  return told == crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
}

}  // namespace postino::remote
