// What a caller wants to see of items whose attributes are in two places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/expression.h"
#include "objects/large_item_store.h"

namespace postino::objects {

// Refers to the placeholders that it was made with, which must outlive it.
class LargeItemStore::Projected {
 public:
  // Everything.
  Projected() = default;

  // As the expression says, if there is one. It is extended, so that the store also answers the key and where the
  // moved attributes are. An expression that breaks a rule stays as it is: the store refuses it.
  static Projected extend(const KeyedTable& table, std::optional<store::ProjectionExpression>& projection,
                          expr::Placeholders& placeholders);

  // The part of the moved attributes that is wanted.
  item::Map of_moved(const item::Map& moved) const { return bound_ ? bound_->project(moved) : moved; }
  // The part of a whole item that is wanted.
  item::Item of_whole(item::Item item) const;
  // Takes out of an answer what was only asked for by extend(), and what callers do not see.
  void finish(item::Item& item) const;

 private:
  std::optional<expr::BoundProjection> bound_;
  std::vector<std::string> added_;
  bool shows_names_ = false;  // of the attributes that have moved
};

}  // namespace postino::objects
