// A message on its way through DATA: dots doubled, and the end behind it.
#pragma once

#include <string>
#include <string_view>

namespace postino::smtp {

// A line feed or a carriage return alone is taken for a line end by some servers and not by others. What one of them
// reads as text, the next may read as the end of the message, and commands behind it.
bool has_proper_line_ends(std::string_view message);
bool has_eight_bit_bytes(std::string_view text);

// In bytes as RFC 1870 counts them: without doubled dots and the end.
std::size_t transferred_size(std::string_view message);

// Hands out the message in blocks, the last with the end of it. A block is copied only when dots must be doubled in it
// or when it is the last: one write more costs more than copying that.
class Body {
 public:
  static constexpr std::size_t block_size = 64 << 10;

  // Both must outlive it; `room` is where blocks are put together.
  Body(std::string_view message, std::string& room) : message_(message), room_(room) {}

  // The next block, until finished; valid until the next call.
  std::string_view next();
  // Will the next block be the last one?
  bool is_next_last() const { return message_.size() - position_ <= block_size; }
  // Has the last block, with the end of the message, been handed out?
  bool finished() const { return finished_; }

 private:
  std::size_t find_leading_dot(std::size_t from, std::size_t to) const;

  std::string_view message_;
  std::string& room_;
  std::size_t position_ = 0;
  bool finished_ = false;
};

}  // namespace postino::smtp
