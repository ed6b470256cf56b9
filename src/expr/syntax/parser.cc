#include "expr/syntax/parser.h"

#include <algorithm>
#include <charconv>

#include "expr/syntax/parse.h"
#include "expr/syntax/reserved_words.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

// An operator is needed at each level but the innermost few, or its parentheses are redundant.
constexpr std::size_t max_depth = max_operators + 20;

}  // namespace

base::Result<void> check_expression_size(std::string_view source, std::string_view expression) {
  if (source.empty()) return refuse(expression, "The expression can not be empty;");
  if (source.size() <= max_expression_size) return {};
  std::string message = "Expression size has exceeded the maximum allowed size;";
  if (expression != update_expression) message += " expression size: " + std::to_string(source.size());
  return refuse(expression, message);
}

std::string_view Parser::text_at(std::size_t position) const {
  const Token& token = tokens_[position];
  return source_.substr(token.begin, token.end - token.begin);
}

bool Parser::accept(TokenKind kind) {
  if (next() != kind) return false;
  advance();
  return true;
}

base::Result<void> Parser::expect(TokenKind kind) {
  if (!accept(kind)) return syntax_error();
  return {};
}

tl::unexpected<base::Error> Parser::syntax_error() const {
  return refuse(expression_, describe_syntax_error(source_, tokens_, position_));
}

base::Result<void> Parser::check_depth() const {
  if (depth_ <= max_depth) return {};
  // Only generated or hostile text nests so deep. It can be well-formed only if every parenthesis is closed.
  const auto opened = std::ranges::count(tokens_, TokenKind::open_paren, &Token::kind);
  const auto closed = std::ranges::count(tokens_, TokenKind::close_paren, &Token::kind);
  if (opened > closed) return refuse(expression_, describe_syntax_error(source_, tokens_, tokens_.size() - 1));
  return refuse(expression_, "The expression has redundant parentheses;");
}

std::uint32_t Parser::name_slot(std::string_view text, bool placeholder) {
  const auto found = std::ranges::find(tree_.names, text, &NameSlot::text);
  const auto slot = static_cast<std::uint32_t>(found - tree_.names.begin());
  if (found == tree_.names.end()) tree_.names.push_back({std::string(text), placeholder});
  return slot;
}

base::Result<void> Parser::add_name() {
  if (!at_name()) return syntax_error();
  const std::string_view text = text_at(position_);
  const bool placeholder = next() == TokenKind::name;
  if (!placeholder && is_reserved_word(text))
    note_fault(position(), "Attribute name is a reserved keyword; reserved keyword: " + std::string(text));
  tree_.elements.push_back({false, name_slot(text, placeholder)});
  advance();
  return {};
}

base::Result<void> Parser::add_index() {
  if (next() != TokenKind::integer) return syntax_error();
  const std::string_view text = text_at(position_);
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || index > max_list_index)
    note_fault(position(), "List index is not within the allowable range; index: [" + std::string(text) + "]");
  tree_.elements.push_back({true, index});
  advance();
  return expect(TokenKind::close_bracket);
}

base::Result<Path> Parser::parse_path() {
  Path path{static_cast<std::uint32_t>(tree_.elements.size()), 1};
  TRY_VOID(add_name());
  return parse_path_rest(path);
}

base::Result<Path> Parser::parse_path_rest(Path path) {
  const std::uint32_t at = position();
  while (true) {
    if (accept(TokenKind::dot)) {
      TRY_VOID(add_name());
    } else if (accept(TokenKind::open_bracket)) {
      TRY_VOID(add_index());
    } else {
      break;
    }
    ++path.count;
  }
  if (path.count > max_path_depth)
    note_fault(at, "The document path has too many nesting levels; nesting levels: " + std::to_string(path.count));
  return path;
}

base::Result<Parser::Part> Parser::parse_operand() {
  if (next() == TokenKind::value) return add_value();
  if (next() == TokenKind::open_paren) return parse_group();
  if (is_identifier(next()) && after_next() == TokenKind::open_paren) return parse_function();
  const std::uint32_t at = position();
  TRY(const Path path, parse_path());
  return add_path(path, at);
}

base::Result<Parser::Part> Parser::parse_group() {
  const Level level(*this);
  TRY_VOID(check_depth());
  advance();
  TRY(Part part, parse_operand());
  TRY_VOID(expect(TokenKind::close_paren));
  if (part.parenthesised) note_redundant_parentheses();
  part.parenthesised = true;
  return parse_group_rest(part);
}

base::Result<Parser::Part> Parser::parse_function() {
  const Level level(*this);
  TRY_VOID(check_depth());
  const std::uint32_t at = position();
  const std::string name(text_at(at));
  const auto function = find_function(name);
  if (!function) {
    note_fault(at, "Invalid function name; function: " + name);
  } else if (const bool for_update = traits_of(*function).use == FunctionUse::update_operand;
             for_update != (own_functions() == FunctionUse::update_operand)) {
    note_fault(at, "The function is not allowed in " +
                       std::string(for_update ? "a condition expression" : "an update expression") +
                       "; function: " + name);
  }
  advance();
  advance();
  std::vector<std::uint32_t> operands;
  do {
    TRY(const Part operand, parse_operand());
    use_as_operand(operand, function ? &*function : nullptr);
    operands.push_back(operand.node);
  } while (accept(TokenKind::comma));
  TRY_VOID(expect(TokenKind::close_paren));
  return add_node({.kind = NodeKind::function, .function = function.value_or(Function::size)}, at, operands);
}

Parser::Part Parser::add_value() {
  const std::string_view text = text_at(position_);
  const auto found = std::ranges::find(tree_.values, text);
  const auto slot = static_cast<std::uint32_t>(found - tree_.values.begin());
  if (found == tree_.values.end()) tree_.values.emplace_back(text);
  const Part part = add_node({.kind = NodeKind::value}, position(), {});
  tree_.nodes.back().first = slot;
  advance();
  return part;
}

Parser::Part Parser::add_path(Path path, std::uint32_t at) {
  tree_.nodes.push_back({.kind = NodeKind::path, .first = path.first, .count = path.count});
  return {static_cast<std::uint32_t>(tree_.nodes.size() - 1), at, false};
}

Parser::Part Parser::add_node(Node node, std::uint32_t at, std::initializer_list<std::uint32_t> children) {
  return add_node(node, at, std::vector(children));
}

Parser::Part Parser::add_node(Node node, std::uint32_t at, const std::vector<std::uint32_t>& children) {
  node.first = static_cast<std::uint32_t>(tree_.child_indexes.size());
  node.count = static_cast<std::uint32_t>(children.size());
  tree_.child_indexes.insert(tree_.child_indexes.end(), children.begin(), children.end());
  tree_.nodes.push_back(node);
  return {static_cast<std::uint32_t>(tree_.nodes.size() - 1), at, false};
}

void Parser::note_fault(std::uint32_t at, std::string message) {
  if (at >= fault_at_) return;
  fault_at_ = at;
  fault_ = std::move(message);
}

base::Result<void> Parser::check_notes() const {
  if (redundant_parentheses_) return refuse(expression_, "The expression has redundant parentheses;");
  if (operators_ > max_operators)
    return refuse(expression_,
                  "The expression contains too many operators; operator count: " + std::to_string(operators_));
  if (!fault_.empty()) return refuse(expression_, fault_);
  return {};
}

}  // namespace postino::expr
