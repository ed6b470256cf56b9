#include "store/stream.h"

#include <charconv>
#include <cstdio>

namespace postino::store {

namespace {

constexpr std::size_t digits = 20;  // of the largest 64-bit number

}  // namespace

std::string format_sequence_number(SequenceNumber number) {
  char text[digits + 2];
  std::snprintf(text, sizeof text, "1%020llu", static_cast<unsigned long long>(number));
  return text;
}

std::optional<SequenceNumber> parse_sequence_number(std::string_view text) {
  if (text.size() != digits + 1 || text.front() != '1') return std::nullopt;
  SequenceNumber number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace postino::store
