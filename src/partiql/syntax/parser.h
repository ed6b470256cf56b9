// Recursive descent over the tokens of one statement. Expressions are in parse_expression.cc, statements in
// parser.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  base::Result<StatementTree> parse();

 private:
  // Statements.
  base::Result<void> parse_body(StatementTree& statement);
  base::Result<Select> parse_select();
  base::Result<void> parse_columns(Select& select);
  base::Result<void> parse_order(Select& select);
  base::Result<Insert> parse_insert();
  base::Result<Update> parse_update();
  base::Result<Update> parse_update_from();
  base::Result<Delete> parse_delete();
  base::Result<Exists> parse_exists();
  base::Result<void> parse_actions(Update& update);
  base::Result<std::optional<Expression>> parse_where();
  base::Result<std::optional<Returning>> parse_returning();
  base::Result<TableReference> parse_source();
  base::Result<TableReference> parse_table();
  base::Result<Path> parse_target();
  base::Result<void> skip_alias();
  bool at_exists() const;
  void add_column(Select& select, const Expression& expression);
  Insert take_members(TableReference into, Expression item);
  TableReference reference_from(const Path& path, Position position);

  // Expressions, from the loosest to the tightest.
  base::Result<Expression> parse_expression();
  base::Result<Expression> parse_and();
  base::Result<Expression> parse_not();
  base::Result<Expression> parse_comparison();
  base::Result<Expression> parse_sum();
  base::Result<Expression> parse_product();
  base::Result<Expression> parse_signed();
  base::Result<Expression> parse_primary();
  base::Result<Expression> parse_group();
  base::Result<Expression> parse_function();
  base::Result<Expression> parse_list(TokenKind close, std::string_view expected, ExpressionKind kind);
  base::Result<Expression> parse_structure();
  base::Result<Expression> parse_between(Expression value);
  base::Result<Expression> parse_in(Expression value);
  base::Result<Expression> parse_is(Expression value);
  base::Result<std::string> parse_type_name();
  base::Result<Path> parse_path();
  base::Result<PathStep> parse_bracket_step();
  base::Result<Expression> chain(TokenKind keyword, ExpressionKind kind, base::Result<Expression> (Parser::*part)());
  base::Result<Expression> infix(Operation operation, Expression left, base::Result<Expression> (Parser::*part)());

  // Tokens.
  const Token& token() const { return tokens_[position_]; }
  TokenKind next() const { return token().kind; }
  TokenKind after_next() const { return next() == TokenKind::end ? TokenKind::end : tokens_[position_ + 1].kind; }
  bool at_word(std::string_view word) const;
  bool at_name() const { return next() == TokenKind::identifier || next() == TokenKind::quoted_identifier; }
  Token take() { return tokens_[position_++]; }
  bool accept(TokenKind kind);
  bool accept_word(std::string_view word);
  base::Result<void> expect(TokenKind kind, std::string_view message);
  base::Result<std::string> take_name();

  // Guards against statements nested so deeply that they would exhaust the stack.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.level_; }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };
  base::Result<void> check_level() const;
  // The expression with its depth worked out; fails when it is too deep to be walked.
  base::Result<Expression> finished(Expression expression) const;

  // A fault of meaning, reported once the whole statement is known to be well formed. The first one counts.
  void note_fault(std::string message);

  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::size_t level_ = 0;
  std::size_t parameters_ = 0;
  std::string fault_;
};

}  // namespace postino::partiql
