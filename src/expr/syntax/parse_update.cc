#include <optional>

#include "base/check.h"
#include "expr/syntax/parse.h"
#include "expr/syntax/parser.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

std::optional<Section> section_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::keyword_set:
      return Section::set;
    case TokenKind::keyword_remove:
      return Section::remove;
    case TokenKind::keyword_add:
      return Section::add;
    case TokenKind::keyword_delete:
      return Section::erase;
    default:
      return std::nullopt;
  }
}

class UpdateParser final : public Parser {
 public:
  UpdateParser(std::string_view source, UpdateTree& tree) : Parser(source, update_expression, tree), update_(tree) {}

  base::Result<void> parse() {
    TRY_VOID(parse_whole());
    TRY_VOID(check_notes());
    if (!repeated_) return {};
    return refuse(expression(), "The \"" + std::string(name_of(*repeated_)) +
                                    "\" section can only be used once in an update expression;");
  }

  // Without the checks that the text is within limits, and of what DynamoDB makes of it.
  base::Result<void> parse_whole() {
    do {
      const auto section = section_of(next());
      if (!section) return syntax_error();
      note_section(*section);
      advance();
      TRY_VOID(parse_section(*section));
    } while (next() != TokenKind::end);
    return {};
  }

 private:
  void note_section(Section section) {
    const unsigned bit = 1U << static_cast<unsigned>(section);
    if ((seen_ & bit) != 0 && !repeated_) repeated_ = section;
    seen_ |= bit;
  }

  base::Result<void> parse_section(Section section) {
    do {
      Action action{.section = section};
      TRY(action.target, parse_path());
      if (section == Section::set) {
        TRY_VOID(expect(TokenKind::equal));
        TRY(const Part value, parse_set_value());
        action.operand = value.node;
      } else if (section != Section::remove) {
        if (next() != TokenKind::value) return syntax_error();
        action.operand = add_value().node;
      }
      update_.actions.push_back(action);
    } while (accept(TokenKind::comma));
    return {};
  }

  // One operand, or two with a sign between them, as a whole in parentheses or not.
  base::Result<Part> parse_set_value() {
    const std::uint32_t at = position();
    TRY(const Part left, next() == TokenKind::open_paren ? parse_parenthesised_value() : parse_operand());
    const TokenKind sign = next();
    if (sign != TokenKind::plus && sign != TokenKind::minus) return left;
    if (is_arithmetic(left)) return syntax_error();
    advance();
    count_operator();
    TRY(const Part right, parse_operand());
    const NodeKind kind = sign == TokenKind::plus ? NodeKind::sum : NodeKind::difference;
    return add_node({.kind = kind}, at, {left.node, right.node});
  }

  base::Result<Part> parse_parenthesised_value() {
    const Level level(*this);
    TRY_VOID(check_depth());
    advance();
    TRY(Part part, parse_set_value());
    TRY_VOID(expect(TokenKind::close_paren));
    if (part.parenthesised) note_redundant_parentheses();
    part.parenthesised = true;
    return part;
  }

  bool is_arithmetic(const Part& part) const {
    const NodeKind kind = node_of(part).kind;
    return kind == NodeKind::sum || kind == NodeKind::difference;
  }

  void use_as_operand(const Part& part, const Function* outer) override {
    const Node& node = node_of(part);
    if (node.kind != NodeKind::function || node.function != Function::list_append) return;
    if (outer == nullptr || *outer != Function::list_append) return;
    note_fault(part.position,
               "The function is not allowed to be used this way in an expression; function: list_append");
  }

  FunctionUse own_functions() const override { return FunctionUse::update_operand; }

  bool is_identifier(TokenKind kind) const override {
    return kind == TokenKind::identifier || (kind >= TokenKind::keyword_and && !section_of(kind));
  }

  UpdateTree& update_;
  unsigned seen_ = 0;
  std::optional<Section> repeated_;
};

}  // namespace

base::Result<Update> parse_update(std::string_view text) {
  TRY_VOID(check_expression_size(text, update_expression));
  auto tree = std::make_shared<UpdateTree>();
  TRY_VOID(UpdateParser(text, *tree).parse());
  return Update(std::move(tree));
}

Update parse_translated_update(std::string_view text) {
  auto tree = std::make_shared<UpdateTree>();
  CHECK(UpdateParser(text, *tree).parse_whole());
  return tree;
}

}  // namespace postino::expr
