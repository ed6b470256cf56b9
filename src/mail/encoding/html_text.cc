#include "mail/encoding/html_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"

namespace postino::mail {

namespace {

constexpr std::string_view paragraph_tags[] = {"p",  "h1", "h2", "h3",         "h4",  "h5",
                                               "h6", "ul", "ol", "blockquote", "pre", "table"};
constexpr std::string_view line_tags[] = {"div", "tr", "li",   "hr",   "section", "article", "header", "footer",
                                          "dt",  "dd", "body", "form", "address", "dl",      "center", "br"};
constexpr std::string_view unshown_tags[] = {"script", "style", "title", "template"};

// From U+00A0 on, one after the other.
constexpr std::string_view latin_names[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",
    "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",
    "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",
    "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",
    "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute",
    "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave",
    "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};
constexpr std::pair<std::string_view, std::uint32_t> other_names[] = {
    {"amp", '&'},      {"lt", '<'},       {"gt", '>'},       {"quot", '"'},     {"apos", '\''},
    {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"sbquo", 0x201A},
    {"ldquo", 0x201C}, {"rdquo", 0x201D}, {"bdquo", 0x201E}, {"bull", 0x2022},  {"hellip", 0x2026},
    {"euro", 0x20AC},  {"trade", 0x2122}, {"larr", 0x2190},  {"rarr", 0x2192}};

constexpr std::uint32_t no_break_space = 0xA0;

bool is_among(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

bool is_space(char letter) { return std::string_view(" \t\r\n\f").find(letter) != std::string_view::npos; }

bool is_tag_letter(char letter) {
  const char low = base::lower(letter);
  return (low >= 'a' && low <= 'z') || (letter >= '0' && letter <= '9');
}

// The character that "&name" or "&#123" means, without the ampersand.
std::optional<std::uint32_t> named_character(std::string_view name) {
  if (const auto number = base::referred_character(name)) return number;
  const auto* const latin = std::ranges::find(latin_names, name);
  if (latin != std::end(latin_names)) return no_break_space + static_cast<std::uint32_t>(latin - latin_names);
  const auto* const other = std::ranges::find(other_names, name, &std::pair<std::string_view, std::uint32_t>::first);
  if (other != std::end(other_names)) return other->second;
  return std::nullopt;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : rest_(html) {}

  std::string run() && {
    while (!rest_.empty()) {
      if (rest_.front() == '<' && take_markup()) continue;
      if (rest_.front() == '&' && take_reference()) continue;
      take_letter();
    }
    return std::string(base::trim(text_));
  }

 private:
  // False when the "<" is just one.
  bool take_markup() {
    if (rest_.starts_with("<!--")) {
      take_up_to("-->");
      return true;
    }
    if (rest_.starts_with("<!") || rest_.starts_with("<?")) {
      take_up_to(">");
      return true;
    }
    const bool is_end = rest_.starts_with("</");
    const std::string_view behind = rest_.substr(is_end ? 2 : 1);
    const auto end = std::ranges::find_if_not(behind, is_tag_letter);
    const std::string name = base::lower_case(behind.substr(0, static_cast<std::size_t>(end - behind.begin())));
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
    rest_.remove_prefix((is_end ? 2 : 1) + name.size());
    skip_attributes();
    if (!is_end && is_among(name, unshown_tags)) return skip_unshown(name);
    apply(name, is_end);
    return true;
  }

  void take_up_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  // Up to the end of the tag. A > within quotes does not end it.
  void skip_attributes() {
    while (!rest_.empty()) {
      const std::size_t at = rest_.find_first_of(">\"'");
      if (at == std::string_view::npos) {
        rest_ = {};
        return;
      }
      const char found = rest_[at];
      rest_.remove_prefix(at + 1);
      if (found == '>') return;
      take_up_to(std::string_view(&found, 1));
    }
  }

  bool skip_unshown(const std::string& name) {
    for (std::size_t at = rest_.find("</"); at != std::string_view::npos; at = rest_.find("</")) {
      rest_.remove_prefix(at + 2);
      if (!base::equal_ignoring_case(rest_.substr(0, name.size()), name)) continue;
      take_up_to(">");
      return true;
    }
    rest_ = {};
    return true;
  }

  void apply(const std::string& name, bool is_end) {
    if (name == "br") {
      text_ += '\n';
    } else if (is_among(name, paragraph_tags)) {
      end_paragraph();
      if (name == "pre") is_preformatted_ = !is_end;
    } else if (is_among(name, line_tags)) {
      end_line();
      if (name == "li" && !is_end) text_ += "- ";
    } else if ((name == "td" || name == "th") && !is_end) {
      add_space();
    }
  }

  bool take_reference() {
    constexpr std::size_t longest = 12;
    const std::size_t end = rest_.substr(0, longest).find(';');
    if (end == std::string_view::npos) return false;
    const auto code = named_character(rest_.substr(1, end - 1));
    if (!code) return false;
    base::append_character(text_, *code == no_break_space ? ' ' : *code);
    rest_.remove_prefix(end + 1);
    return true;
  }

  void take_letter() {
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (is_space(letter) && !is_preformatted_)
      add_space();
    else
      text_ += letter;
  }

  void add_space() {
    if (!text_.empty() && !is_space(text_.back())) text_ += ' ';
  }
  void end_line() {
    while (text_.ends_with(' ')) text_.pop_back();
    if (!text_.empty() && !text_.ends_with('\n')) text_ += '\n';
  }
  void end_paragraph() {
    end_line();
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
  }

  std::string_view rest_;
  std::string text_;
  bool is_preformatted_ = false;
};

}  // namespace

std::string text_of_html(std::string_view html) { return HtmlReader(html).run(); }

}  // namespace postino::mail
