#include "smtp/body.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace postino::smtp {

namespace {

constexpr std::string_view line_end = "\r\n";

bool ends_with_line_end(std::string_view message) { return message.empty() || message.ends_with(line_end); }

}  // namespace

bool has_proper_line_ends(std::string_view message) {
  while (!message.empty()) {
    const void* const feed = std::memchr(message.data(), '\n', message.size());
    const std::size_t length =
        feed == nullptr ? message.size() : static_cast<std::size_t>(static_cast<const char*>(feed) - message.data());
    const void* const carriage_return = std::memchr(message.data(), '\r', length);
    if (feed == nullptr) return carriage_return == nullptr;
    if (length == 0 || carriage_return != message.data() + length - 1) return false;
    message.remove_prefix(length + 1);
  }
  return true;
}

bool has_eight_bit_bytes(std::string_view text) {
  std::array<std::uint64_t, 4> seen{};
  while (text.size() >= sizeof seen) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), text.data(), sizeof words);
    for (std::size_t i = 0; i < words.size(); ++i) seen[i] |= words[i];
    text.remove_prefix(sizeof words);
  }
  for (const char c : text) seen[0] |= static_cast<unsigned char>(c);
  return ((seen[0] | seen[1] | seen[2] | seen[3]) & 0x8080808080808080U) != 0;
}

std::size_t transferred_size(std::string_view message) {
  return message.size() + (ends_with_line_end(message) ? 0 : line_end.size());
}

// From one line end to the next: texts have many more dots than lines.
std::size_t Body::find_leading_dot(std::size_t from, std::size_t to) const {
  if (from == to) return std::string_view::npos;
  if (message_[from] == '.' && (from == 0 || message_[from - 1] == '\n')) return from;
  while (from + 1 < to) {
    const void* const found = std::memchr(message_.data() + from, '\n', to - from - 1);
    if (found == nullptr) break;
    from = static_cast<std::size_t>(static_cast<const char*>(found) - message_.data()) + 1;
    if (message_[from] == '.') return from;
  }
  return std::string_view::npos;
}

std::string_view Body::next() {
  const std::size_t begin = position_;
  position_ = std::min(begin + block_size, message_.size());
  finished_ = position_ == message_.size();
  std::size_t dot = find_leading_dot(begin, position_);
  if (!finished_ && dot == std::string_view::npos) return message_.substr(begin, position_ - begin);

  room_.clear();
  std::size_t copied = begin;
  for (; dot != std::string_view::npos; dot = find_leading_dot(dot + 1, position_)) {
    room_.append(message_, copied, dot - copied);
    room_ += '.';
    copied = dot;
  }
  room_.append(message_, copied, position_ - copied);
  if (finished_) room_ += ends_with_line_end(message_) ? ".\r\n" : "\r\n.\r\n";
  return room_;
}

}  // namespace postino::smtp
