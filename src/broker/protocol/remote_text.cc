#include "broker/protocol/remote_text.h"

#include "base/text.h"
#include "json/string.h"

namespace postino::broker {

std::string clean_text(std::string_view text) {
  constexpr std::size_t longest = 300;
  const bool is_cut = text.size() > longest;
  if (is_cut) {
    std::size_t end = longest;
    while (end > 0 && !base::starts_character(text[end])) --end;
    text = text.substr(0, end);
  }
  const bool valid = json::is_utf8(text);
  std::string clean;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    clean += base::is_control_character(letter) ? ' ' : byte >= 0x80 && !valid ? '?' : letter;
  }
  return is_cut ? clean + "..." : clean;
}

}  // namespace postino::broker
