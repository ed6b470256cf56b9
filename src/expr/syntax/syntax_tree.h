// What parsing yields. Trees are flat: nodes refer to each other, to paths and to placeholders by number, so that
// binding an expression to a request is resolving two small vectors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/syntax/functions.h"

namespace postino::expr {

enum class Kind { condition, filter, key_condition };

// A document path: a run of the elements of its tree.
struct Path {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// A step of a document path: an attribute name by its slot, or a list index.
struct PathElement {
  bool is_index = false;
  std::uint32_t number = 0;
};

enum class Comparator : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

enum class NodeKind : std::uint8_t {
  path,   // first, count: the path
  value,  // first: the slot of the value
  // The others have children.
  function,
  comparison,
  between,
  in,
  logical_and,
  logical_or,
  logical_not,
  sum,
  difference,
};

struct Node {
  NodeKind kind = NodeKind::path;
  Function function = Function::size;         // of kind function
  Comparator comparator = Comparator::equal;  // of kind comparison
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  Path path() const { return {first, count}; }
};

struct NameSlot {
  std::string text;  // an identifier, or a placeholder with its #
  bool placeholder = false;
};

struct SyntaxTree {
  std::vector<NameSlot> names;  // distinct, in source order
  std::vector<std::string> values;
  std::vector<PathElement> elements;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> child_indexes;

  std::span<const PathElement> elements_of(Path path) const {
    return std::span(elements).subspan(path.first, path.count);
  }
  std::size_t child_count(const Node& node) const {
    return node.kind == NodeKind::path || node.kind == NodeKind::value ? 0 : node.count;
  }
  const Node& child(const Node& parent, std::size_t position) const {
    return nodes[child_indexes[parent.first + position]];
  }
};

struct ConditionTree : SyntaxTree {
  Kind kind = Kind::condition;
  std::uint32_t root = 0;
};

enum class Section : std::uint8_t { set, remove, add, erase };

struct Action {
  Section section = Section::set;
  Path target = {};
  std::uint32_t operand = 0;  // node of what is set, added or deleted
};

struct UpdateTree : SyntaxTree {
  std::vector<Action> actions;  // in source order
};

struct ProjectionTree : SyntaxTree {
  std::vector<Path> paths;
};

}  // namespace postino::expr
