// Reading and writing of the fixed-width and variable-width integers that our binary formats use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postino::base {

// Big endian, so that byte order is numeric order.
template <class Integer>
void append_big_endian(std::string& out, Integer value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xFF));
}

template <class Integer>
Integer load_big_endian(const char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<Integer>(value);
}

// LEB128: seven bits a byte, least significant first.
inline void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Bytes behind their number, so that a reader knows where they end.
inline void append_sized(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

// Walks over bytes that may be damaged: every read says whether there was enough left.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  std::optional<std::string_view> take(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::optional<std::uint8_t> byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  template <class Integer>
  std::optional<Integer> big_endian() {
    auto bytes = take(sizeof(Integer));
    if (!bytes) return std::nullopt;
    return load_big_endian<Integer>(bytes->data());
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto next = byte();
      if (!next) return std::nullopt;
      value |= static_cast<std::uint64_t>(*next & 0x7F) << shift;
      if (*next < 0x80) return value;
    }
    return std::nullopt;
  }

 private:
  std::string_view rest_;
};

}  // namespace postino::base
