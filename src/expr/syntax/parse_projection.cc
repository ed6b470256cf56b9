#include "expr/syntax/parse.h"
#include "expr/syntax/parser.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

class ProjectionParser final : public Parser {
 public:
  ProjectionParser(std::string_view source, ProjectionTree& tree)
      : Parser(source, projection_expression, tree), projection_(tree) {}

  base::Result<void> parse() {
    do {
      TRY(const Path path, parse_path());
      projection_.paths.push_back(path);
    } while (accept(TokenKind::comma));
    if (next() != TokenKind::end) return syntax_error();
    return check_notes();
  }

 private:
  // There are neither functions nor keywords here.
  void use_as_operand(const Part&, const Function*) override {}
  FunctionUse own_functions() const override { return FunctionUse::condition; }
  bool is_identifier(TokenKind kind) const override {
    return kind == TokenKind::identifier || kind >= TokenKind::keyword_and;
  }

  ProjectionTree& projection_;
};

}  // namespace

base::Result<Projection> parse_projection(std::string_view text) {
  TRY_VOID(check_expression_size(text, projection_expression));
  auto tree = std::make_shared<ProjectionTree>();
  TRY_VOID(ProjectionParser(text, *tree).parse());
  return Projection(std::move(tree));
}

}  // namespace postino::expr
