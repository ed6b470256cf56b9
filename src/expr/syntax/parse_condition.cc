// Conditions, filters and key conditions: one grammar, and rules of their own for key conditions after binding.
#include <optional>

#include "base/check.h"
#include "expr/syntax/parse.h"
#include "expr/syntax/parser.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

std::optional<Comparator> comparator_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::equal:
      return Comparator::equal;
    case TokenKind::not_equal:
      return Comparator::not_equal;
    case TokenKind::less:
      return Comparator::less;
    case TokenKind::less_equal:
      return Comparator::less_equal;
    case TokenKind::greater:
      return Comparator::greater;
    case TokenKind::greater_equal:
      return Comparator::greater_equal;
    default:
      return std::nullopt;
  }
}

class ConditionParser final : public Parser {
 public:
  ConditionParser(std::string_view source, ConditionTree& tree)
      : Parser(source, expression_name(tree.kind), tree), condition_(tree) {}

  base::Result<void> parse() {
    TRY_VOID(parse_whole());
    return check_notes();
  }

  // Without the checks that the text is within limits, and of what DynamoDB makes of it.
  base::Result<void> parse_whole() {
    TRY(const Part root, parse_or());
    if (next() != TokenKind::end) return syntax_error();
    TRY_VOID(use_as_condition(root));
    condition_.root = root.node;
    return {};
  }

 private:
  base::Result<Part> parse_or() { return parse_chain(TokenKind::keyword_or, NodeKind::logical_or); }
  base::Result<Part> parse_and() { return parse_chain(TokenKind::keyword_and, NodeKind::logical_and); }

  // Conditions joined by one logical operator. A single part is passed on as it is: it may be a mere operand, whose
  // comparator stands outside the parentheses around it.
  base::Result<Part> parse_chain(TokenKind keyword, NodeKind kind) {
    const std::uint32_t at = position();
    TRY(const Part first, kind == NodeKind::logical_or ? parse_and() : parse_not());
    if (next() != keyword) return first;
    TRY_VOID(use_as_condition(first));
    std::vector<std::uint32_t> parts = {first.node};
    while (accept(keyword)) {
      count_operator();
      TRY(const Part part, kind == NodeKind::logical_or ? parse_and() : parse_not());
      TRY_VOID(use_as_condition(part));
      parts.push_back(part.node);
    }
    return add_node({.kind = kind}, at, parts);
  }

  base::Result<Part> parse_not() {
    const std::uint32_t at = position();
    std::size_t negations = 0;
    for (; accept(TokenKind::keyword_not); ++negations) count_operator();
    TRY(Part part, parse_primary());
    if (negations > 0) TRY_VOID(use_as_condition(part));
    for (; negations > 0; --negations) part = add_node({.kind = NodeKind::logical_not}, at, {part.node});
    return part;
  }

  base::Result<Part> parse_primary() {
    const std::uint32_t at = position();
    TRY(const Part first, next() == TokenKind::open_paren ? parse_parenthesised() : parse_operand());
    const auto comparator = comparator_of(next());
    const bool between = next() == TokenKind::keyword_between;
    if (comparator || between || next() == TokenKind::keyword_in) {
      if (is_complete(first)) return syntax_error();
      use_as_operand(first, nullptr);
      count_operator();
      advance();
      if (comparator) return parse_comparison(first, *comparator, at);
      return between ? parse_between(first, at) : parse_in(first, at);
    }
    // Only a closing parenthesis leaves hope for a comparator.
    if (is_bare(first) && next() != TokenKind::close_paren) return syntax_error();
    return first;
  }

  // A condition or an operand: which of them shows only inside.
  base::Result<Part> parse_parenthesised() {
    const Level level(*this);
    TRY_VOID(check_depth());
    advance();
    TRY(Part part, parse_or());
    TRY_VOID(expect(TokenKind::close_paren));
    if (part.parenthesised) note_redundant_parentheses();
    part.parenthesised = true;
    return parse_group_rest(part);
  }

  // (a.b).c is the path a.b.c.
  base::Result<Part> parse_group_rest(Part group) override {
    const Node node = node_of(group);
    if (node.kind != NodeKind::path || (next() != TokenKind::dot && next() != TokenKind::open_bracket)) return group;
    TRY(const Path path, parse_path_rest(node.path()));
    return add_path(path, group.position);
  }

  base::Result<Part> parse_value_operand() {
    TRY(const Part operand, parse_operand());
    use_as_operand(operand, nullptr);
    return operand;
  }

  base::Result<Part> parse_comparison(Part left, Comparator comparator, std::uint32_t at) {
    TRY(const Part right, parse_value_operand());
    return add_node({.kind = NodeKind::comparison, .comparator = comparator}, at, {left.node, right.node});
  }

  base::Result<Part> parse_between(Part operand, std::uint32_t at) {
    TRY(const Part lower, parse_value_operand());
    TRY_VOID(expect(TokenKind::keyword_and));
    TRY(const Part upper, parse_value_operand());
    return add_node({.kind = NodeKind::between}, at, {operand.node, lower.node, upper.node});
  }

  base::Result<Part> parse_in(Part operand, std::uint32_t at) {
    TRY_VOID(expect(TokenKind::open_paren));
    std::vector<std::uint32_t> operands = {operand.node};
    do {
      TRY(const Part member, parse_value_operand());
      operands.push_back(member.node);
    } while (accept(TokenKind::comma));
    TRY_VOID(expect(TokenKind::close_paren));
    if (const std::size_t count = operands.size() - 1; count > max_in_operands)
      note_fault(at,
                 "The IN operator is provided with too many operands; number of operands: " + std::to_string(count));
    return add_node({.kind = NodeKind::in}, at, operands);
  }

  // A path or value that nothing was compared with yet.
  bool is_bare(const Part& part) const {
    const NodeKind kind = node_of(part).kind;
    return kind == NodeKind::path || kind == NodeKind::value;
  }
  bool is_complete(const Part& part) const { return !is_bare(part) && node_of(part).kind != NodeKind::function; }

  base::Result<void> use_as_condition(const Part& part) {
    if (is_bare(part)) return syntax_error();
    if (node_of(part).kind == NodeKind::function) check_use(part, FunctionUse::condition);
    return {};
  }
  void use_as_operand(const Part& part, const Function*) override {
    if (node_of(part).kind == NodeKind::function) check_use(part, FunctionUse::condition_operand);
  }
  void check_use(const Part& part, FunctionUse use) {
    const FunctionTraits& traits = traits_of(node_of(part).function);
    if (traits.use == use) return;
    note_fault(part.position, "The function is not allowed to be used this way in an expression; function: " +
                                  std::string(traits.name));
  }

  FunctionUse own_functions() const override { return FunctionUse::condition; }

  bool is_identifier(TokenKind kind) const override {
    return kind == TokenKind::identifier || kind == TokenKind::keyword_set || kind == TokenKind::keyword_remove ||
           kind == TokenKind::keyword_add || kind == TokenKind::keyword_delete;
  }

  ConditionTree& condition_;
};

}  // namespace

base::Result<Condition> parse_condition(std::string_view text, Kind kind) {
  TRY_VOID(check_expression_size(text, expression_name(kind)));
  auto tree = std::make_shared<ConditionTree>();
  tree->kind = kind;
  TRY_VOID(ConditionParser(text, *tree).parse());
  return Condition(std::move(tree));
}

Condition parse_translated_condition(std::string_view text, Kind kind) {
  auto tree = std::make_shared<ConditionTree>();
  tree->kind = kind;
  CHECK(ConditionParser(text, *tree).parse_whole());
  return tree;
}

}  // namespace postino::expr
