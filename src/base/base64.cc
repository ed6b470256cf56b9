#include "base/base64.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

namespace postino::base {
namespace {

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_base64_digit = 0xFF;

constexpr auto base64_digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_base64_digit);
  for (std::size_t i = 0; i < base64_alphabet.size(); ++i)
    table[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

std::uint32_t base64_digit(char c) { return base64_digits[static_cast<unsigned char>(c)]; }

tl::unexpected<Error> malformed_base64(std::string message) { return fail(ErrorCode::malformed, std::move(message)); }

std::size_t base64_padding(std::string_view text) {
  if (!text.ends_with('=')) return 0;
  return text.ends_with("==") ? 2 : 1;
}

void append_byte(std::string& out, std::uint32_t value) { out.push_back(static_cast<char>(value & 0xFF)); }

// The two or three digits before the padding. Bits that belong to no byte must be zero.
Result<void> append_base64_tail(std::string& out, std::string_view tail) {
  if (tail.empty()) return {};
  std::uint32_t bits = base64_digit(tail[0]) << 18 | base64_digit(tail[1]) << 12;
  if (tail.size() == 3) bits |= base64_digit(tail[2]) << 6;
  const std::uint32_t unused = tail.size() == 2 ? 0xFFFF : 0xFF;
  if ((bits & unused) != 0) return malformed_base64("Invalid last non-pad Base64 character dectected");
  append_byte(out, bits >> 16);
  if (tail.size() == 3) append_byte(out, bits >> 8);
  return {};
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  const std::size_t before = out.size();
  const std::size_t size = (bytes.size() + 2) / 3 * 4;
  out.resize(before + size + 1);  // the function ends its text with NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data() + before),
                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(before + size);
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return malformed_base64("Base64 encoded length is expected a multiple of 4 bytes but found: " +
                            std::to_string(text.size()));
  text.remove_suffix(base64_padding(text));
  for (char c : text)
    if (base64_digit(c) == no_base64_digit)
      return malformed_base64(std::string("Invalid base 64 character: '") + c + "'");
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  for (; text.size() >= 4; text.remove_prefix(4)) {
    const std::uint32_t bits =
        base64_digit(text[0]) << 18 | base64_digit(text[1]) << 12 | base64_digit(text[2]) << 6 | base64_digit(text[3]);
    append_byte(out, bits >> 16);
    append_byte(out, bits >> 8);
    append_byte(out, bits);
  }
  TRY_VOID(append_base64_tail(out, text));
  return out;
}

}  // namespace postino::base
