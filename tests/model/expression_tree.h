// Conditions, updates and projections as plain trees, which the model evaluates in the simplest way there is and which
// are written out as text for the store. Whatever the text means to the store, it must be what the tree means here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document.h"

namespace postino::model {

// What a condition compares: a path, a literal or size(path).
struct Operand {
  enum class Kind { path, literal, size };
  Kind kind = Kind::literal;
  Path path;
  item::AttributeValue literal;
};

struct Condition {
  enum class Kind {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    between,
    in,
    exists,
    not_exists,
    type_is,
    begins_with,
    contains,
    all_of,
    any_of,
    negation,
  };
  Kind kind = Kind::exists;
  std::vector<Operand> operands;
  std::vector<Condition> parts;

  // Can no item make sense of it? Then the request is refused whatever the table holds.
  bool is_invalid() const;
  bool matches(const item::Item& item) const;
  void add_attributes(std::vector<std::string>& names) const;
};

struct UpdateValue {
  enum class Kind { literal, path, if_not_exists, list_append, plus, minus };
  Kind kind = Kind::literal;
  item::AttributeValue literal;
  Path path;  // of path and if_not_exists
  std::vector<UpdateValue> operands;
};

struct UpdateAction {
  enum class Section { set, remove, add, erase };
  Section section = Section::set;
  Path target;
  UpdateValue value;  // a literal for add and erase, not used for remove
};

struct UpdateResult {
  std::optional<item::Item> item;
  std::vector<std::string> faults;  // what is wrong with its actions; the store reports one of them
};

struct Update {
  std::vector<UpdateAction> actions;

  bool is_invalid() const;
  bool creates() const;
  UpdateResult apply(const item::Item& before) const;
  // What it touched, as it is in `item`.
  item::Item touched(const item::Item& item) const;
};

struct Projection {
  std::vector<Path> paths;

  bool is_invalid() const;
  item::Item apply(const item::Item& item) const;
};

}  // namespace postino::model
