// Runs of sort keys: what conditions on a sort key leave to be read.
#pragma once

#include <optional>

#include "item/value.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

struct Bound {
  item::AttributeValue value;
  bool inclusive = true;
};

class Interval {
 public:
  Interval() = default;  // everything
  static Interval at(const item::AttributeValue& value);
  // `operation` is one of = < <= > >=.
  static Interval compared(Operation operation, const item::AttributeValue& value);
  static Interval between(const item::AttributeValue& lower, const item::AttributeValue& upper);
  static Interval starting_with(const item::AttributeValue& prefix);

  // What is in both.
  Interval intersection(const Interval& other) const;
  bool overlaps(const Interval& other) const;
  bool empty() const;
  bool unbounded() const { return !lower_ && !upper_; }
  // True when one condition of a Query says exactly this; otherwise its condition lets more through.
  bool exact() const { return exact_; }

  const std::optional<Bound>& lower() const { return lower_; }
  const std::optional<Bound>& upper() const { return upper_; }
  // The one key that it holds, if it was made to hold one.
  const item::AttributeValue* point() const;
  // Set for what starting_with made.
  const std::optional<item::AttributeValue>& prefix() const { return prefix_; }

 private:
  std::optional<Bound> lower_;
  std::optional<Bound> upper_;
  std::optional<item::AttributeValue> prefix_;
  bool exact_ = true;
};

// By value: strings and binaries by bytes, numbers by size. Both must be of one type.
bool less(const item::AttributeValue& a, const item::AttributeValue& b);

}  // namespace postino::partiql
