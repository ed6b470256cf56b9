#include "mail/readable_text.h"

#include <optional>

#include "base/text.h"
#include "mail/encoding/charset.h"
#include "mail/encoding/html_text.h"
#include "mail/mime_part.h"

namespace postino::mail {

namespace {

constexpr int deepest_part = 5;
constexpr int most_parts = 100;

bool is_attachment(const MimePart& part) {
  return base::lower_case(part.fields().value("Content-Disposition")).starts_with("attachment");
}

// Looks for the part that people read.
class TextSearch {
 public:
  std::optional<MimePart> find(const MimePart& part, int depth = 0) {
    if (++looked_at_ > most_parts || is_attachment(part)) return std::nullopt;
    if (part.type() == "text/plain" || part.type() == "text/html") return part;
    if (depth == deepest_part) return std::nullopt;
    // The parts of an alternative say the same; otherwise the first one is what was written.
    const bool is_choice = part.type() == "multipart/alternative";
    std::optional<MimePart> html;
    for (const MimePart& child : part.parts()) {
      auto found = find(child, depth + 1);
      if (found && (!is_choice || found->type() == "text/plain")) return found;
      if (found && !html) html = std::move(found);
    }
    return html;
  }

 private:
  int looked_at_ = 0;
};

}  // namespace

std::string readable_text(std::string_view message) {
  const MimePart whole(message);
  const auto part = TextSearch().find(whole);
  if (!part) {
    const bool is_broken = whole.type().starts_with("multipart/") && whole.parts().empty();
    return is_broken ? to_utf8(whole.content(), "") : std::string();
  }
  std::string text = to_utf8(part->content(), part->charset());
  if (part->type() == "text/html") text = text_of_html(text);
  // The line end before a boundary belongs to the boundary.
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

}  // namespace postino::mail
