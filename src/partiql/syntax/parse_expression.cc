// Expressions of statements. Everything PartiQL can say is read here, also what DynamoDB then refuses.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "expr/expression.h"
#include "partiql/syntax/parser.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

// Deeper than any value that can be stored, and than anyone writes by hand.
constexpr std::size_t max_depth = 100;

constexpr std::array<std::string_view, 33> type_names = {
    "BOOLEAN", "BOOL",     "SMALLINT", "INT2",   "INTEGER2", "INT",       "INTEGER", "INT4",    "INTEGER4",
    "INT8",    "INTEGER8", "BIGINT",   "FLOAT",  "REAL",     "DECIMAL",   "DEC",     "NUMERIC", "TIMESTAMP",
    "DATE",    "TIME",     "SYMBOL",   "STRING", "CHAR",     "CHARACTER", "VARCHAR", "CLOB",    "BLOB",
    "LIST",    "SEXP",     "BAG",      "STRUCT", "TUPLE",    "ANY",
};

std::optional<Operation> comparison_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::equal:
      return Operation::equal;
    case TokenKind::not_equal:
      return Operation::not_equal;
    case TokenKind::less:
      return Operation::less;
    case TokenKind::less_equal:
      return Operation::less_equal;
    case TokenKind::greater:
      return Operation::greater;
    case TokenKind::greater_equal:
      return Operation::greater_equal;
    case TokenKind::keyword_like:
      return Operation::like;
    default:
      return std::nullopt;
  }
}

std::optional<Operation> sum_of(TokenKind kind) {
  if (kind == TokenKind::plus) return Operation::plus;
  if (kind == TokenKind::minus) return Operation::minus;
  if (kind == TokenKind::concatenate) return Operation::concatenate;
  return std::nullopt;
}

std::optional<Operation> product_of(TokenKind kind) {
  if (kind == TokenKind::star) return Operation::times;
  if (kind == TokenKind::slash) return Operation::divide;
  if (kind == TokenKind::percent) return Operation::modulo;
  return std::nullopt;
}

bool is_comparison(Operation operation) { return operation < Operation::plus; }

Expression node(ExpressionKind kind, Position position) {
  Expression result;
  result.kind = kind;
  result.position = position;
  return result;
}

Expression literal(item::AttributeValue value, Position position) {
  Expression result = node(ExpressionKind::literal, position);
  result.value = std::move(value);
  return result;
}

Expression negation(Expression operand) {
  Expression result = node(ExpressionKind::logical_not, operand.position);
  result.operands.push_back(std::move(operand));
  return result;
}

}  // namespace

base::Result<Expression> Parser::parse_expression() {
  return chain(TokenKind::keyword_or, ExpressionKind::logical_or, &Parser::parse_and);
}

base::Result<Expression> Parser::parse_and() {
  return chain(TokenKind::keyword_and, ExpressionKind::logical_and, &Parser::parse_not);
}

base::Result<Expression> Parser::chain(TokenKind keyword, ExpressionKind kind,
                                       base::Result<Expression> (Parser::*part)()) {
  TRY(Expression first, (this->*part)());
  if (next() != keyword) return first;
  Expression joined = node(kind, first.position);
  joined.operands.push_back(std::move(first));
  while (accept(keyword)) {
    if (next() == TokenKind::end) return not_well_formed("Missing right-hand side expression of infix operator");
    TRY(Expression operand, (this->*part)());
    joined.operands.push_back(std::move(operand));
  }
  return finished(std::move(joined));
}

base::Result<Expression> Parser::parse_not() {
  std::size_t negations = 0;
  while (accept(TokenKind::keyword_not)) ++negations;
  TRY(Expression operand, parse_comparison());
  if (negations == 0) return operand;
  // Two negations are none, except that what they negate has to be a condition.
  if (negations % 2 == 0) operand = negation(std::move(operand));
  return finished(negation(std::move(operand)));
}

base::Result<Expression> Parser::parse_comparison() {
  TRY(Expression left, parse_sum());
  while (true) {
    const TokenKind postfix = next() == TokenKind::keyword_not ? after_next() : next();
    const auto operation = comparison_of(postfix);
    const bool is = next() == TokenKind::keyword_is;
    if (!operation && !is && postfix != TokenKind::keyword_in && postfix != TokenKind::keyword_between) return left;
    const bool negated = next() == TokenKind::keyword_not;
    if (negated && operation && *operation != Operation::like) return left;
    if (negated) take();
    take();
    if (operation) {
      TRY(left, infix(*operation, std::move(left), &Parser::parse_sum));
    } else if (is) {
      TRY(left, parse_is(std::move(left)));
    } else if (postfix == TokenKind::keyword_in) {
      TRY(left, parse_in(std::move(left)));
    } else {
      TRY(left, parse_between(std::move(left)));
    }
    if (negated) {
      TRY(left, finished(negation(std::move(left))));
    }
  }
}

base::Result<Expression> Parser::infix(Operation operation, Expression left,
                                       base::Result<Expression> (Parser::*part)()) {
  if (next() == TokenKind::end) return not_well_formed("Missing right-hand side expression of infix operator");
  TRY(Expression right, (this->*part)());
  Expression result =
      node(is_comparison(operation) ? ExpressionKind::comparison : ExpressionKind::arithmetic, left.position);
  result.operation = operation;
  result.operands.push_back(std::move(left));
  result.operands.push_back(std::move(right));
  return finished(std::move(result));
}

base::Result<Expression> Parser::parse_between(Expression value) {
  Expression result = node(ExpressionKind::between, value.position);
  result.operands.push_back(std::move(value));
  TRY(Expression lower, parse_sum());
  result.operands.push_back(std::move(lower));
  TRY_VOID(expect(TokenKind::keyword_and, "Expected AND after BETWEEN"));
  TRY(Expression upper, parse_sum());
  result.operands.push_back(std::move(upper));
  return finished(std::move(result));
}

base::Result<Expression> Parser::parse_in(Expression value) {
  Expression result = node(ExpressionKind::in, value.position);
  result.operands.push_back(std::move(value));
  const bool brackets = next() == TokenKind::open_bracket;
  if (brackets || next() == TokenKind::open_paren) {
    TRY(Expression members,
        parse_list(brackets ? TokenKind::close_bracket : TokenKind::close_paren,
                   brackets ? "Expected RIGHT_BRACKET" : "Expected RIGHT_PAREN", ExpressionKind::list));
    std::ranges::move(members.operands, std::back_inserter(result.operands));
  } else {
    TRY_VOID(parse_sum());  // not a list, whatever it is
  }
  if (result.operands.size() == 1)
    note_fault(
        "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq "
        "with at least one member");
  return finished(std::move(result));
}

base::Result<Expression> Parser::parse_is(Expression value) {
  const bool negated = accept(TokenKind::keyword_not);
  Expression result = node(ExpressionKind::is, value.position);
  result.operands.push_back(std::move(value));
  TRY(result.name, parse_type_name());
  TRY(result, finished(std::move(result)));
  if (!negated) return result;
  return finished(negation(std::move(result)));
}

base::Result<std::string> Parser::parse_type_name() {
  if (accept(TokenKind::keyword_null)) return "NULL";
  if (accept(TokenKind::keyword_missing)) return "MISSING";
  std::string name = next() == TokenKind::identifier ? base::upper_case(token().text) : "";
  const bool known = std::ranges::find(type_names, name) != type_names.end();
  if (!known && name != "DOUBLE") return not_well_formed("Expected type name");
  take();
  if (name == "DOUBLE") {
    if (!accept_word("precision")) return not_well_formed("Expected type name");
    name = "DOUBLE_PRECISION";
  } else if (name == "CHARACTER" && accept_word("varying")) {
    name = "CHARACTER_VARYING";
  }
  return name;
}

base::Result<Expression> Parser::parse_sum() {
  TRY(Expression left, parse_product());
  while (const auto operation = sum_of(next())) {
    take();
    TRY(left, infix(*operation, std::move(left), &Parser::parse_product));
  }
  return left;
}

base::Result<Expression> Parser::parse_product() {
  TRY(Expression left, parse_signed());
  while (const auto operation = product_of(next())) {
    take();
    TRY(left, infix(*operation, std::move(left), &Parser::parse_signed));
  }
  return left;
}

// A sign before a number belongs to it; before anything else it is an operator that DynamoDB does not have.
base::Result<Expression> Parser::parse_signed() {
  if (next() != TokenKind::plus && next() != TokenKind::minus) return parse_primary();
  const Position position = token().position;
  bool negative = false;
  while (next() == TokenKind::plus || next() == TokenKind::minus)
    if (take().kind == TokenKind::minus) negative = !negative;
  TRY(Expression operand, parse_primary());
  if (operand.kind == ExpressionKind::number) {
    if (negative) operand.name = operand.name.starts_with('-') ? operand.name.substr(1) : "-" + operand.name;
    return operand;
  }
  Expression result = node(ExpressionKind::arithmetic, position);
  result.operation = negative ? Operation::minus : Operation::plus;
  result.operands.push_back(std::move(operand));
  return finished(std::move(result));
}

base::Result<Expression> Parser::parse_primary() {
  const Position position = token().position;
  switch (next()) {
    case TokenKind::open_paren:
      return parse_group();
    case TokenKind::open_bracket:
      return parse_list(TokenKind::close_bracket, "Expected RIGHT_BRACKET", ExpressionKind::list);
    case TokenKind::open_bag:
      return parse_list(TokenKind::close_bag, "Expected RIGHT_DOUBLE_ANGLE_BRACKET", ExpressionKind::bag);
    case TokenKind::open_brace:
      return parse_structure();
    case TokenKind::string:
      return literal(unquoted(take().text), position);
    case TokenKind::keyword_true:
    case TokenKind::keyword_false:
      return literal(take().kind == TokenKind::keyword_true, position);
    case TokenKind::keyword_null:
      take();
      return literal(item::Null{}, position);
    case TokenKind::keyword_missing:
      take();
      return node(ExpressionKind::missing, position);
    case TokenKind::number: {
      Expression number = node(ExpressionKind::number, position);
      number.name = take().text;
      return number;
    }
    case TokenKind::parameter: {
      take();
      Expression parameter = node(ExpressionKind::parameter, position);
      parameter.number = parameters_++;
      return parameter;
    }
    case TokenKind::keyword_from: {
      const Level level(*this);
      TRY_VOID(check_level());
      TRY_VOID(parse_update_from());
      return node(ExpressionKind::data_manipulation, position);
    }
    case TokenKind::identifier:
      if (after_next() == TokenKind::open_paren) return parse_function();
      [[fallthrough]];
    case TokenKind::quoted_identifier: {
      Expression path = node(ExpressionKind::path, position);
      TRY(path.path, parse_path());
      return path;
    }
    default:
      break;
  }
  if (is_operator(next())) return not_well_formed("Unexpected operator");
  return not_well_formed(is_keyword(next()) ? "Unexpected keyword" : "Unexpected term");
}

base::Result<Expression> Parser::parse_group() {
  const Level level(*this);
  TRY_VOID(check_level());
  take();
  TRY(Expression inner, parse_expression());
  TRY_VOID(expect(TokenKind::close_paren, "Expected RIGHT_PAREN"));
  return inner;
}

base::Result<Expression> Parser::parse_function() {
  Expression call = node(ExpressionKind::function, token().position);
  call.name = base::lower_case(take().text);
  // COUNT(*) has the form of a call, and no other right.
  if (after_next() == TokenKind::star && tokens_[position_ + 2].kind == TokenKind::close_paren) {
    position_ += 3;
    return call;
  }
  TRY(Expression arguments, parse_list(TokenKind::close_paren, "Expected RIGHT_PAREN", ExpressionKind::list));
  call.operands = std::move(arguments.operands);
  return finished(std::move(call));
}

// From the opening token to the closing one.
base::Result<Expression> Parser::parse_list(TokenKind close, std::string_view expected, ExpressionKind kind) {
  const Level level(*this);
  TRY_VOID(check_level());
  Expression list = node(kind, take().position);
  if (accept(close)) return list;
  do {
    TRY(Expression member, parse_expression());
    list.operands.push_back(std::move(member));
  } while (accept(TokenKind::comma));
  TRY_VOID(expect(close, expected));
  return finished(std::move(list));
}

base::Result<Expression> Parser::parse_structure() {
  const Level level(*this);
  TRY_VOID(check_level());
  Expression structure = node(ExpressionKind::structure, take().position);
  if (accept(TokenKind::close_brace)) return structure;
  do {
    Expression name = node(ExpressionKind::literal, token().position);
    if (next() == TokenKind::string) {
      name.name = unquoted(take().text);
    } else {
      TRY(const Expression other, parse_expression());
      note_fault(located("Tuple keys must be of type String", other.position));
    }
    structure.operands.push_back(std::move(name));
    TRY_VOID(expect(TokenKind::colon, "Expected COLON"));
    TRY(Expression value, parse_expression());
    structure.operands.push_back(std::move(value));
  } while (accept(TokenKind::comma));
  TRY_VOID(expect(TokenKind::close_brace, "Expected RIGHT_CURLY"));
  return finished(std::move(structure));
}

base::Result<std::string> Parser::take_name() {
  if (!at_name()) return not_well_formed("Invalid path dot component");
  const Token name = take();
  return name.kind == TokenKind::identifier ? std::string(name.text) : unquoted(name.text);
}

base::Result<Path> Parser::parse_path() {
  Path path(1);
  TRY(path.front().name, take_name());
  while (true) {
    if (accept(TokenKind::dot)) {
      const Position position = token().position;
      if (accept(TokenKind::star)) {
        note_fault(located("Unexpected path component", position));
        continue;
      }
      PathStep step;
      TRY(step.name, take_name());
      path.push_back(std::move(step));
    } else if (accept(TokenKind::open_bracket)) {
      TRY(PathStep step, parse_bracket_step());
      path.push_back(std::move(step));
    } else {
      return path;
    }
  }
}

base::Result<PathStep> Parser::parse_bracket_step() {
  PathStep step;
  if (next() == TokenKind::string) {
    step.name = unquoted(take().text);
    TRY_VOID(expect(TokenKind::close_bracket, "Expected RIGHT_BRACKET"));
    return step;
  }
  const Token first = token();
  step.index = 0;
  if (accept(TokenKind::star)) {
    note_fault(located("Unexpected path component", first.position));
  } else {
    const Level level(*this);
    TRY_VOID(check_level());
    TRY(const Expression index, parse_sum());
    const std::string_view text = index.name;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *step.index);
    const bool valid = error == std::errc() && end == text.data() + text.size() && *step.index <= expr::max_list_index;
    if (index.kind != ExpressionKind::number)
      note_fault(located("Unexpected path component", index.position));
    else if (!valid && text != "-0")
      note_fault(located("List index is not within the allowable range; index: [" + index.name + "]", index.position));
  }
  TRY_VOID(expect(TokenKind::close_bracket, "Expected RIGHT_BRACKET"));
  return step;
}

base::Result<void> Parser::check_level() const {
  if (level_ <= max_depth) return {};
  return not_well_formed();
}

base::Result<Expression> Parser::finished(Expression expression) const {
  for (const Expression& operand : expression.operands)
    expression.depth = std::max<std::uint16_t>(expression.depth, operand.depth + 1);
  if (expression.depth > max_depth) return not_well_formed();
  return expression;
}

}  // namespace postino::partiql
