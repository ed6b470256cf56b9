#include "outbox/mysql_ledger/mysql_statement.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace postino::outbox {

namespace {

bool is_plain(char letter) { return (letter >= ' ' && letter <= '~') || letter == '\n' || letter == '\t'; }

// Lines stay lines.
std::string repaired(std::string_view text, std::size_t most_bytes) {
  std::string result;
  while (true) {
    const std::size_t end = text.find('\n');
    base::append_printable(result, text.substr(0, end), most_bytes);
    if (end == std::string_view::npos || result.size() >= most_bytes) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

// As large as a full batch has it, and twice that for those that pass a state on the way.
constexpr std::array<std::size_t, 8> sizes = {1, 2, 4, 8, 16, 25, 50, 100};

}  // namespace

std::size_t rounded_up(std::size_t count) {
  const auto size = std::ranges::find_if(sizes, [&](std::size_t each) { return each >= count; });
  return size == sizes.end() ? count : *size;
}

std::size_t rounded_down(std::size_t count) {
  const auto next = std::ranges::find_if(sizes, [&](std::size_t each) { return each > count; });
  return next == sizes.begin() ? count : *std::prev(next);
}

std::string repeated(std::string_view element, std::size_t count) {
  std::string text;
  text.reserve(count * (element.size() + 2));
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += element;
  }
  return text;
}

std::int64_t timestamp(base::TimePoint time) {
  return std::clamp<std::int64_t>(base::epoch_seconds(time), 1, std::numeric_limits<std::int32_t>::max());
}

void Parameters::add_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes && std::ranges::all_of(text, is_plain))
    add(text);
  else
    keep(repaired(text, most_bytes));
}

void Parameters::repeat_last(std::size_t length, std::size_t until) {
  list_.reserve(until);
  while (list_.size() < until) list_.push_back(list_[list_.size() - length]);
}

}  // namespace postino::outbox
