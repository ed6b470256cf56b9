#include "access/policy/pattern.h"

#include "base/text.h"

namespace postino::access {

// Reads a text from left to right, and makes pieces of it.
class PatternParser {
 public:
  PatternParser(std::string_view text, Pattern::Syntax syntax) : rest_(text), syntax_(syntax) {}

  base::Result<Pattern> run() {
    while (!rest_.empty()) {
      if (syntax_.variables && rest_.starts_with("${"))
        TRY_VOID(take_variable());
      else if (syntax_.wildcards && rest_.front() == '*')
        take_wildcard(Kind::any_text);
      else if (syntax_.wildcards && rest_.front() == '?')
        take_wildcard(Kind::any_character);
      else
        take_letter();
    }
    pattern_.prepare();
    return std::move(pattern_);
  }

 private:
  using Kind = Pattern::Piece::Kind;

  void add_text(std::string_view text) {
    if (pattern_.pieces_.empty() || pattern_.pieces_.back().kind != Kind::text) pattern_.pieces_.emplace_back();
    pattern_.pieces_.back().text += text;
  }

  void take_letter() {
    add_text(rest_.substr(0, 1));
    rest_.remove_prefix(1);
  }

  void take_wildcard(Kind kind) {
    pattern_.pieces_.emplace_back().kind = kind;
    rest_.remove_prefix(1);
  }

  // "${key}" or "${key, 'default'}"; ${*}, ${?} and ${$} are the letters themselves.
  base::Result<void> take_variable() {
    const std::size_t end = rest_.find('}');
    if (end == std::string_view::npos) return base::invalid("has ${ without a }");
    const std::string_view inside = rest_.substr(2, end - 2);
    rest_.remove_prefix(end + 1);
    if (inside == "*" || inside == "?" || inside == "$") {
      add_text(inside);
      return {};
    }
    Pattern::Piece piece;
    piece.kind = Kind::variable;
    const std::size_t comma = inside.find(',');
    if (comma != std::string_view::npos) {
      const std::string_view text = base::trim(inside.substr(comma + 1));
      if (text.size() < 2 || text.front() != '\'' || text.back() != '\'')
        return base::invalid("has a variable whose default is not in single quotes: ${" + std::string(inside) + "}");
      piece.has_default = true;
      piece.text = text.substr(1, text.size() - 2);
    }
    const std::string name(base::trim(inside.substr(0, comma)));
    auto key = KeyReference::parse(name);
    if (!key) return base::invalid("has the variable ${" + name + "}, which " + key.error().message);
    if (has_several_values(key->key))
      return base::invalid("has the variable ${" + name + "}, which can have several values");
    piece.key = *std::move(key);
    pattern_.pieces_.push_back(std::move(piece));
    return {};
  }

  std::string_view rest_;
  const Pattern::Syntax syntax_;
  Pattern pattern_;
};

base::Result<Pattern> Pattern::parse(std::string_view text, Syntax syntax) { return PatternParser(text, syntax).run(); }

void Pattern::prepare() {
  for (const Piece& piece : pieces_) {
    has_variables_ = has_variables_ || piece.kind == Piece::Kind::variable;
    has_wildcards_ = has_wildcards_ || piece.kind == Piece::Kind::any_text || piece.kind == Piece::Kind::any_character;
  }
  if (pieces_.empty()) pieces_.emplace_back();  // the empty text
  if (!has_variables_ && has_wildcards_) glob_ = *glob_of(Context());
}

std::optional<std::string_view> Pattern::value_of(const Piece& piece, const Context& context) const {
  const auto values = context.values(piece.key);
  if (values.size() == 1) return values.front();
  if (values.empty() && piece.has_default) return piece.text;
  return std::nullopt;
}

std::optional<Glob> Pattern::glob_of(const Context& context) const {
  Glob glob;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Piece::Kind::text:
        glob.add_text(piece.text);
        break;
      case Piece::Kind::any_text:
        glob.add_any_text();
        break;
      case Piece::Kind::any_character:
        glob.add_any_character();
        break;
      case Piece::Kind::variable:
        const auto value = value_of(piece, context);
        if (!value) return std::nullopt;
        glob.add_text(*value);
        break;
    }
  }
  return glob;
}

// Of a pattern without wildcards.
std::optional<std::string> Pattern::text_of(const Context& context) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    const auto part = piece.kind == Piece::Kind::variable ? value_of(piece, context) : std::string_view(piece.text);
    if (!part) return std::nullopt;
    text += *part;
  }
  return text;
}

Pattern::Match Pattern::match(std::string_view text, const Context& context) const {
  const auto answer = [](bool matches) { return matches ? Match::yes : Match::no; };
  if (is_certain()) return answer(pieces_.front().text == text);
  if (!has_variables_) return answer(glob_.matches(text));
  if (!has_wildcards_) {
    const auto wanted = text_of(context);
    return wanted ? answer(*wanted == text) : Match::unknown;
  }
  const auto glob = glob_of(context);
  return glob ? answer(glob->matches(text)) : Match::unknown;
}

Pattern::Match Pattern::match_ignoring_case(std::string_view text, const Context& context) const {
  const auto wanted = text_of(context);
  if (!wanted) return Match::unknown;
  return base::equal_ignoring_case(*wanted, text) ? Match::yes : Match::no;
}

void Pattern::add_keys(ContextKeySet& keys) const {
  for (const Piece& piece : pieces_)
    if (piece.kind == Piece::Kind::variable) keys.set(static_cast<std::size_t>(piece.key.key));
}

std::string_view Pattern::certain_beginning() const {
  return pieces_.front().kind == Piece::Kind::text ? std::string_view(pieces_.front().text) : std::string_view();
}

}  // namespace postino::access
