#include "mail/text_rules.h"

#include <glib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

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

// Letters that are not seen: Default_Ignorable_Code_Point of Unicode 15.
constexpr std::array<std::pair<gunichar, gunichar>, 17> unseen_letters = {{
    {0x00AD, 0x00AD},
    {0x034F, 0x034F},
    {0x061C, 0x061C},
    {0x115F, 0x1160},
    {0x17B4, 0x17B5},
    {0x180B, 0x180F},
    {0x200B, 0x200F},
    {0x202A, 0x202E},
    {0x2060, 0x206F},
    {0x3164, 0x3164},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFF8},
    {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF},
}};

bool is_unseen(gunichar letter) {
  return std::ranges::any_of(unseen_letters,
                             [&](const auto& range) { return letter >= range.first && letter <= range.second; });
}

// As it is seen: without letters that are not, and with one blank for any number and kind of them.
std::string as_seen(const gchar* text) {
  constexpr gunichar braille_blank = 0x2800;
  std::string seen;
  bool is_after_blank = true;
  for (const gchar* at = text; *at != '\0'; at = g_utf8_next_char(at)) {
    const gunichar letter = g_utf8_get_char(at);
    if (is_unseen(letter)) continue;
    const bool is_blank = g_unichar_isspace(letter) != FALSE || letter == braille_blank;
    if (is_blank && !is_after_blank) seen += ' ';
    if (!is_blank) seen.append(at, static_cast<std::size_t>(g_utf8_next_char(at) - at));
    is_after_blank = is_blank;
  }
  return std::string(base::trim(seen));
}

base::Result<void> check(std::string_view text, bool tabs) {
  if (base::has_control_character(text, tabs ? "\t" : ""))
    return base::invalid("must not contain line ends or other control characters");
  if (!is_utf8(text)) return base::invalid("must be UTF-8");
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
  // An unseen letter may stand between a letter and its accent.
  const GlibText lower(g_utf8_casefold(as_seen(normal.get()).c_str(), -1));
  const GlibText again(g_utf8_normalize(lower.get(), -1, G_NORMALIZE_NFKC));
  return as_seen(again.get());
}

bool is_atom_letter(char letter) {
  return is_letter_or_digit(letter) || std::string_view("!#$%&'*+-/=?^_`{|}~").find(letter) != std::string_view::npos;
}

bool is_token_letter(char letter) {
  return letter > ' ' && letter < 0x7F && std::string_view("()<>@,;:\\\"/[]?=").find(letter) == std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_letter); }

}  // namespace postino::mail
