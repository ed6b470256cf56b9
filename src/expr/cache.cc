#include "expr/cache.h"

#include <array>

#include "expr/expression.h"
#include "expr/syntax/syntax_tree.h"

namespace postino::expr {
namespace {

constexpr std::size_t capacity = 1 << 20;

// Errors are not kept, so a client cannot fill memory with wrong expressions.
template <class Tree, class Parse>
base::Result<std::shared_ptr<const Tree>> find_or_parse(ExpressionCache<Tree>& cache, std::string_view text,
                                                        Parse parse) {
  if (auto found = cache.find(text)) return found;
  TRY(auto parsed, parse(text));
  cache.insert(text, parsed);
  return parsed;
}

}  // namespace

base::Result<Condition> cached_condition(std::string_view text, Kind kind) {
  using Cache = ExpressionCache<ConditionTree>;
  static std::array<Cache, 3> caches = {Cache(capacity), Cache(capacity), Cache(capacity)};
  return find_or_parse(caches[static_cast<std::size_t>(kind)], text,
                       [kind](std::string_view source) { return parse_condition(source, kind); });
}

base::Result<Update> cached_update(std::string_view text) {
  static ExpressionCache<UpdateTree> cache(capacity);
  return find_or_parse(cache, text, parse_update);
}

base::Result<Projection> cached_projection(std::string_view text) {
  static ExpressionCache<ProjectionTree> cache(capacity);
  return find_or_parse(cache, text, parse_projection);
}

}  // namespace postino::expr
