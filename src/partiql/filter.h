// A condition bound to its values, to be met by items that were read.
//
// The store's own filters do not do: a Query refuses those on key attributes, which PartiQL allows, and a read of a
// local index would fetch attributes that PartiQL says are missing there.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/expression.h"
#include "partiql/substitutions.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

class Filter {
 public:
  // Fails where the condition can hold for no item of any table: operands of a wrong type and the like.
  static base::Result<Filter> make(const Expression& condition, const Parameters& parameters);

  bool matches(const item::Item& item) const { return bound_.matches(item); }
  // Distinct top-level names that it refers to, in source order.
  std::vector<std::string_view> attributes() const { return bound_.attributes(); }

 private:
  std::unique_ptr<const expr::Placeholders> placeholders_;  // what bound_ refers to
  expr::BoundCondition bound_;
};

}  // namespace postino::partiql
