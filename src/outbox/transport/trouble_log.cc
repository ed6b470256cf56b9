#include "outbox/transport/trouble_log.h"

#include <algorithm>
#include <array>

namespace postino::outbox {

std::string without_addresses(std::string_view text) {
  constexpr std::string_view separators = " \t<>()[],;:\"'";
  // Also as wide characters, and as servers write it into their own addresses.
  constexpr std::array<std::string_view, 4> signs = {"@", "\uFF20", "\uFE6B", "=40"};
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, end);
    const bool is_address = std::ranges::any_of(signs, [&](auto sign) { return word.find(sign) != word.npos; });
    // What is quoted before the sign belongs to it: "ada lovelace"@example.org.
    if (is_address && word.front() == '@' && out.ends_with('"'))
      out.resize(std::min(out.rfind('"', out.size() - 2), out.size() - 1));
    out += is_address ? "(address)" : word;
    out += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace postino::outbox
