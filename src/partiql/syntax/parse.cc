#include "partiql/syntax/parse.h"

#include "expr/cache.h"
#include "partiql/syntax/parser.h"

namespace postino::partiql {

base::Result<ParsedStatement> parse_statement(std::string_view text) {
  TRY(std::vector<Token> tokens, tokenize(text));
  TRY(StatementTree tree, Parser(std::move(tokens)).parse());
  return std::make_shared<const StatementTree>(std::move(tree));
}

base::Result<ParsedStatement> cached_statement(std::string_view text) {
  // A tree takes up to a hundred times the bytes of its text.
  static expr::ExpressionCache<StatementTree> cache(1 << 18);
  if (auto found = cache.find(text)) return found;
  TRY(ParsedStatement parsed, parse_statement(text));
  cache.insert(text, parsed);
  return parsed;
}

}  // namespace postino::partiql
