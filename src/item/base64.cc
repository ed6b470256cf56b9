#include <array>

#include "item/json_codec.h"

namespace postino::item {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr auto digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

std::uint32_t digit_of(char c) { return digits[static_cast<unsigned char>(c)]; }
std::uint32_t byte_of(char c) { return static_cast<unsigned char>(c); }

tl::unexpected<base::Error> malformed(std::string message) {
  return base::fail(base::ErrorCode::malformed, std::move(message));
}

std::size_t padding_of(std::string_view text) {
  if (!text.ends_with('=')) return 0;
  return text.ends_with("==") ? 2 : 1;
}

void append_byte(std::string& out, std::uint32_t value) { out.push_back(static_cast<char>(value & 0xFF)); }

// The two or three digits before the padding. Bits that belong to no byte must be zero.
base::Result<void> append_tail(std::string& out, std::string_view tail) {
  if (tail.empty()) return {};
  std::uint32_t bits = digit_of(tail[0]) << 18 | digit_of(tail[1]) << 12;
  if (tail.size() == 3) bits |= digit_of(tail[2]) << 6;
  const std::uint32_t unused = tail.size() == 2 ? 0xFFFF : 0xFF;
  if ((bits & unused) != 0) return malformed("Invalid last non-pad Base64 character dectected");
  append_byte(out, bits >> 16);
  if (tail.size() == 3) append_byte(out, bits >> 8);
  return {};
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  const auto put = [&out](std::uint32_t bits, int count) {
    for (int shift = 18; count-- > 0; shift -= 6) out.push_back(alphabet[bits >> shift & 0x3F]);
  };
  for (; bytes.size() >= 3; bytes.remove_prefix(3))
    put(byte_of(bytes[0]) << 16 | byte_of(bytes[1]) << 8 | byte_of(bytes[2]), 4);
  if (bytes.size() == 1) put(byte_of(bytes[0]) << 16, 2);
  if (bytes.size() == 2) put(byte_of(bytes[0]) << 16 | byte_of(bytes[1]) << 8, 3);
  out.append(bytes.empty() ? 0 : 3 - bytes.size(), '=');
  return out;
}

base::Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return malformed("Base64 encoded length is expected a multiple of 4 bytes but found: " +
                     std::to_string(text.size()));
  text.remove_suffix(padding_of(text));
  for (char c : text)
    if (digit_of(c) == no_digit) return malformed(std::string("Invalid base 64 character: '") + c + "'");
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  for (; text.size() >= 4; text.remove_prefix(4)) {
    const std::uint32_t bits =
        digit_of(text[0]) << 18 | digit_of(text[1]) << 12 | digit_of(text[2]) << 6 | digit_of(text[3]);
    append_byte(out, bits >> 16);
    append_byte(out, bits >> 8);
    append_byte(out, bits);
  }
  TRY_VOID(append_tail(out, text));
  return out;
}

}  // namespace postino::item
