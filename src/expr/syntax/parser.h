// What the parsers of all kinds of expression share: walking over tokens, paths, function calls, and the faults that
// are reported only once the whole text is known to be well-formed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/syntax/functions.h"
#include "expr/syntax/lexer.h"
#include "expr/syntax/syntax_tree.h"

namespace postino::expr {

// Not empty and not too long: the checks before any parsing.
base::Result<void> check_expression_size(std::string_view source, std::string_view expression);

class Parser {
 public:
  virtual ~Parser() = default;
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

 protected:
  // `expression` is the name of the parameter, for messages.
  Parser(std::string_view source, std::string_view expression, SyntaxTree& tree)
      : source_(source), expression_(expression), tree_(tree), tokens_(tokenize(source)) {}

  // A part of the expression. Whether a function stands in the right place is known only by what follows it.
  struct Part {
    std::uint32_t node = 0;
    std::uint32_t position = 0;  // of its first token, for faults
    bool parenthesised = false;
  };

  // Guards against expressions nested so deeply that they would exhaust the stack. No valid expression comes near.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };
  base::Result<void> check_depth() const;

  TokenKind next() const { return tokens_[position_].kind; }
  TokenKind after_next() const { return next() == TokenKind::end ? TokenKind::end : tokens_[position_ + 1].kind; }
  std::string_view text_at(std::size_t position) const;
  std::uint32_t position() const { return static_cast<std::uint32_t>(position_); }
  void advance() { ++position_; }
  bool accept(TokenKind kind);
  base::Result<void> expect(TokenKind kind);
  tl::unexpected<base::Error> syntax_error() const;

  // True for tokens that can start a path in this grammar.
  bool at_name() const { return next() == TokenKind::name || is_identifier(next()); }
  virtual bool is_identifier(TokenKind kind) const { return kind == TokenKind::identifier; }

  base::Result<Path> parse_path();
  // Parses what follows a path whose elements were the last to be added.
  base::Result<Path> parse_path_rest(Path path);
  // A value placeholder, a function call, a path, or one of them in parentheses.
  base::Result<Part> parse_operand();
  base::Result<Part> parse_function();
  // What follows the parenthesised operand, where the grammar allows something to.
  virtual base::Result<Part> parse_group_rest(Part group) { return group; }
  // A function stands where a value is needed; `outer` is the function it is an operand of, if any.
  virtual void use_as_operand(const Part& part, const Function* outer) = 0;
  virtual FunctionUse own_functions() const = 0;

  Part add_value();
  Part add_path(Path path, std::uint32_t at);
  Part add_node(Node node, std::uint32_t at, std::initializer_list<std::uint32_t> children);
  Part add_node(Node node, std::uint32_t at, const std::vector<std::uint32_t>& children);
  const Node& node_of(const Part& part) const { return tree_.nodes[part.node]; }

  void count_operator() { ++operators_; }
  // Two pairs of parentheses around one thing.
  void note_redundant_parentheses() { redundant_parentheses_ = true; }
  // Of several faults the one that comes first in the source is reported.
  void note_fault(std::uint32_t at, std::string message);
  // What was noted, once the syntax is known to be right.
  base::Result<void> check_notes() const;

  std::string_view expression() const { return expression_; }

 private:
  std::uint32_t name_slot(std::string_view text, bool placeholder);
  base::Result<void> add_name();
  base::Result<void> add_index();
  base::Result<Part> parse_group();

  std::string_view source_;
  std::string_view expression_;
  SyntaxTree& tree_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  std::size_t operators_ = 0;
  bool redundant_parentheses_ = false;
  std::uint32_t fault_at_ = UINT32_MAX;
  std::string fault_;
};

}  // namespace postino::expr
