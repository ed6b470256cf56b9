// Expressions: parse once (cached by text), bind to a request's placeholders, evaluate against items.
//
//   auto condition = parse_condition("attribute_not_exists(#k) OR #k = :v", Kind::condition);   // reusable
//   Binder binder(placeholders);                                                              // one per request
//   auto bound = binder.bind(*condition);
//   binder.check_all_used();
//   bound->matches(item);
//
// Errors are ErrorCode::invalid with DynamoDB's message, including the "Invalid <Kind>: " prefix that Rule::expression
// tells of.
// Parsed expressions are immutable and may be shared by threads. Bound ones refer to the placeholders they were bound
// to, which must outlive them; the names that a bound expression tells are views that live as long as it does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/placeholders.h"
#include "expr/syntax/parse.h"
#include "item/value.h"

namespace postino::expr {

// The same as parse_condition, parse_update and parse_projection, answered from a bounded, thread-safe cache when the
// text was parsed before.
base::Result<Condition> cached_condition(std::string_view text, Kind kind);
base::Result<Update> cached_update(std::string_view text);
base::Result<Projection> cached_projection(std::string_view text);

class BoundCondition {
 public:
  // An absent item is an empty one.
  bool matches(const item::Map& item) const;
  // Distinct top-level attribute names that the expression refers to, in source order.
  std::vector<std::string_view> attributes() const;
  // Those of them that a path leads into: "a" of a.b and of a[0].
  std::vector<std::string_view> nested_attributes() const;

 private:
  friend class Binder;
  Condition tree_;
  std::vector<std::string_view> names_;  // by placeholder slot of the tree
  std::vector<const item::AttributeValue*> values_;
};

class BoundUpdate {
 public:
  // The item after the update; `before` is empty for a new item and holds the key attributes.
  base::Result<item::Map> apply(const item::Map& before) const;

  // Distinct top-level attributes written, in source order; whether the path goes below the top level; and whether the
  // new value is worked out from the item instead of taken from the request as it is.
  struct Target {
    std::string_view name;
    bool nested;
    bool computed;
  };
  std::vector<Target> targets() const;

  // True when the update can create an item: it has a SET or ADD.
  bool creates() const;

  // True when doing it again changes nothing, whatever the item was: it only sets attributes to values of the request,
  // removes some, and adds to or takes from sets; and no position in a list is named.
  bool is_repeatable() const;

  // What UPDATED_OLD (from the item before) and UPDATED_NEW (from the item after) return: touched paths only.
  item::Map touched(const item::Map& item) const;

  // Names and values written plus DynamoDB's fixed cost per clause: its second gate on the size of an update.
  std::size_t written_size() const;

 private:
  friend class Binder;
  Update tree_;
  std::vector<std::string_view> names_;
  std::vector<const item::AttributeValue*> values_;
};

class BoundProjection {
 public:
  item::Map project(const item::Map& item) const;
  // Distinct top-level attribute names, in source order.
  std::vector<std::string_view> attributes() const;
  // Those of them that a path leads into.
  std::vector<std::string_view> nested_attributes() const;

 private:
  friend class Binder;
  Projection tree_;
  std::vector<std::string_view> names_;
  std::vector<Path> sorted_paths_;
};

enum class KeyOperator { equal, less, less_equal, greater, greater_equal, between, begins_with };

// One conjunct of a key condition. `upper` is set for BETWEEN only.
struct KeyConjunct {
  std::string_view attribute;
  KeyOperator op = KeyOperator::equal;
  const item::AttributeValue* value = nullptr;
  const item::AttributeValue* upper = nullptr;
};

// A scalar as some messages show it: "AttributeValue: {S:abc}".
std::string describe_literal(const item::AttributeValue& value);

// Does a value fulfil the conjunct, whichever attribute it belongs to?
bool fulfils(const item::AttributeValue& value, const KeyConjunct& conjunct);

// Binds the expressions of one request and remembers which placeholders they used.
// DynamoDB's order: check_maps first, then each expression, then check_all_used.
class Binder {
 public:
  explicit Binder(const Placeholders& placeholders) : placeholders_(&placeholders) {}

  // The maps themselves: not empty, keys well-formed. `any_expression` says whether the request has an expression at
  // all; `absent` names the parameters that could have used values ("ConditionExpression is null"), for the message
  // when it has none.
  base::Result<void> check_maps(bool any_expression, std::string_view absent) const;

  base::Result<BoundCondition> bind(const Condition& condition);
  base::Result<BoundUpdate> bind(const Update& update);
  base::Result<BoundProjection> bind(const Projection& projection);
  // At most one conjunct per attribute, equality or a range; which attribute is which key is the store's to check.
  // Conjuncts refer to the condition and to the placeholders. DynamoDB makes the checks of bind for a key condition
  // before it looks at the filter, and those of its form after the projection.
  base::Result<std::vector<KeyConjunct>> bind_key_condition(const Condition& condition);

  // Every name and value that was given is used somewhere.
  base::Result<void> check_all_used() const;

 private:
  std::vector<std::string_view> resolve_names(const SyntaxTree& tree);
  std::vector<const item::AttributeValue*> resolve_values(const SyntaxTree& tree);

  const Placeholders* placeholders_;
  std::vector<std::string_view> used_names_;
  std::vector<std::string_view> used_values_;
};

}  // namespace postino::expr
