#include "mail/text_rules.h"

#include <glib.h>

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace postino::mail {

namespace {

struct GlibFreed {
  void operator()(gchar* text) const { g_free(text); }
};
using GlibText = std::unique_ptr<gchar, GlibFreed>;

bool is_letter_or_digit(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

// U+0080 to U+009F, among them a line end (U+0085).
bool has_high_control(std::string_view text) {
  for (std::size_t at = text.find('\xC2'); at != std::string_view::npos; at = text.find('\xC2', at + 1))
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
  return false;
}

base::Result<void> check(std::string_view text, bool tabs) {
  const auto is_refused = [tabs](char letter) {
    return base::is_control_character(letter) && !(tabs && letter == '\t');
  };
  if (std::ranges::any_of(text, is_refused))
    return base::invalid("must not contain line ends or other control characters");
  if (!is_utf8(text)) return base::invalid("must be UTF-8");
  if (has_high_control(text)) return base::invalid("must not contain line ends or other control characters");
  return {};
}

}  // namespace

bool is_utf8(std::string_view text) { return g_utf8_validate_len(text.data(), text.size(), nullptr) != FALSE; }

base::Result<void> check_line(std::string_view text) { return check(text, false); }

base::Result<void> check_line_with_tabs(std::string_view text) { return check(text, true); }

std::string folded(std::string_view text) {
  if (!is_utf8(text)) return std::string(base::trim(text));
  // Folding may undo the normal form.
  const GlibText normal(g_utf8_normalize(text.data(), static_cast<gssize>(text.size()), G_NORMALIZE_NFKC));
  const GlibText lower(g_utf8_casefold(normal.get(), -1));
  const GlibText again(g_utf8_normalize(lower.get(), -1, G_NORMALIZE_NFKC));
  return std::string(base::trim(again.get()));
}

bool is_atom_letter(char letter) {
  return is_letter_or_digit(letter) || std::string_view("!#$%&'*+-/=?^_`{|}~").find(letter) != std::string_view::npos;
}

bool is_token_letter(char letter) {
  return letter > ' ' && letter < 0x7F && std::string_view("()<>@,;:\\\"/[]?=").find(letter) == std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_letter); }

}  // namespace postino::mail
