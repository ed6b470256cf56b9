// A text of a policy that may have wildcards, and variables such as ${aws:PrincipalTag/customer}.
//
// What a variable stands for is taken as it is: a * in the tag of a caller matches a * and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/policy/context.h"
#include "access/policy/glob.h"
#include "base/result.h"

namespace postino::access {

class Pattern {
 public:
  struct Syntax {
    bool wildcards = false;  // * and ?
    bool variables = false;  // ${...}; otherwise these letters stand for themselves
  };
  // Fails with the rule that the text breaks.
  static base::Result<Pattern> parse(std::string_view text, Syntax syntax);

  enum class Match {
    no,
    yes,
    unknown,  // a variable stands for nothing in this request, and has no default: the text matches nothing
  };
  Match match(std::string_view text, const Context& context) const;
  // The same with letters in either case; for patterns without wildcards.
  Match match_ignoring_case(std::string_view text, const Context& context) const;

  bool has_variables() const { return has_variables_; }
  // What it begins with for certain: everything before the first wildcard or variable.
  std::string_view certain_beginning() const;
  // Adds the keys of its variables.
  void add_keys(ContextKeySet& keys) const;
  bool is_certain() const { return !has_variables_ && !has_wildcards_; }

 private:
  struct Piece {
    enum class Kind { text, any_text, any_character, variable };
    Kind kind = Kind::text;
    std::string text;  // or the default of a variable
    KeyReference key;
    bool has_default = false;
  };
  friend class PatternParser;

  void prepare();
  std::optional<std::string_view> value_of(const Piece& piece, const Context& context) const;
  std::optional<Glob> glob_of(const Context& context) const;
  std::optional<std::string> text_of(const Context& context) const;

  std::vector<Piece> pieces_;
  bool has_variables_ = false;
  bool has_wildcards_ = false;
  Glob glob_;  // without variables
};

}  // namespace postino::access
