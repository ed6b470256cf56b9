// Documents as the model sees them: paths, order of scalars, and a form in which list positions do not move.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "item/value.h"

namespace postino::model {

using Step = std::variant<std::string, std::uint32_t>;  // a name or a list position
using Path = std::vector<Step>;                         // the first step is a name

const item::AttributeValue* find(const item::Item& item, const Path& path);

// Paths of which one begins with the other, or that part by a name here and a position there: no expression may hold
// both.
bool collide(const Path& a, const Path& b);

bool has_order(item::Type type);  // S, N and B do
// Of two values of one type that has an order.
std::strong_ordering compare(const item::AttributeValue& a, const item::AttributeValue& b);

// Values of a key in its order: hash, then range.
using KeyValues = std::vector<item::AttributeValue>;
std::strong_ordering compare(const KeyValues& a, const KeyValues& b);
struct KeyLess {
  bool operator()(const KeyValues& a, const KeyValues& b) const { return compare(a, b) < 0; }
};

// A document whose lists are maps from position to value. So writing past the end, removing and picking are the same
// as for maps, and the gaps close when it becomes a document again.
class SparseDocument {
 public:
  SparseDocument() = default;
  explicit SparseDocument(const item::Item& item);

  // The parents are there or, for an empty document, are made on the way.
  void set(const Path& path, const item::AttributeValue& value);
  void erase(const Path& path);
  item::Item close_gaps() const;

 private:
  struct Node;
  using Names = std::map<std::string, Node>;
  using Positions = std::map<std::uint32_t, Node>;
  struct Node {
    std::variant<item::AttributeValue, std::shared_ptr<Names>, std::shared_ptr<Positions>> content;
  };
  static Node open(const item::AttributeValue& value);
  static item::AttributeValue close(const Node& node);
  static Node* child(Node& node, const Step& step, bool make);

  Node root_{std::make_shared<Names>()};
};

}  // namespace postino::model
