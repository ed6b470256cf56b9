#include "expr/update_value.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "expr/path.h"

namespace postino::expr {
namespace {

using item::AttributeValue;

tl::unexpected<base::Error> refuse_type() {
  return base::invalid("An operand in the update expression has an incorrect data type", base::Rule::operand_type);
}

base::Result<AttributeValue> as_value(base::Result<item::Number> number) {
  TRY(const item::Number value, std::move(number));
  return AttributeValue(value);
}

base::Result<AttributeValue> calculate(const Scope& scope, const Node& node, const item::Map& before) {
  TRY(const AttributeValue left, compute(scope, scope.tree.child(node, 0), before));
  TRY(const AttributeValue right, compute(scope, scope.tree.child(node, 1), before));
  const auto* a = left.get_if<item::Number>();
  const auto* b = right.get_if<item::Number>();
  if (a == nullptr || b == nullptr) return refuse_type();
  return as_value(node.kind == NodeKind::sum ? item::Number::add(*a, *b) : item::Number::subtract(*a, *b));
}

base::Result<AttributeValue> append(const Scope& scope, const Node& node, const item::Map& before) {
  TRY(AttributeValue left, compute(scope, scope.tree.child(node, 0), before));
  TRY(AttributeValue right, compute(scope, scope.tree.child(node, 1), before));
  auto* head = left.get_if<item::List>();
  auto* tail = right.get_if<item::List>();
  if (head == nullptr || tail == nullptr) return refuse_type();
  std::ranges::move(*tail, std::back_inserter(*head));
  return left;
}

template <class Member>
AttributeValue unite(const item::Set<Member>& a, const item::Set<Member>& b) {
  std::vector<Member> members = a.members();
  members.insert(members.end(), b.members().begin(), b.members().end());
  return item::Set<Member>(std::move(members));
}

template <class Member>
AttributeValue difference(const item::Set<Member>& a, const item::Set<Member>& b) {
  std::vector<Member> members;
  std::set_difference(a.members().begin(), a.members().end(), b.members().begin(), b.members().end(),
                      std::back_inserter(members));
  return item::Set<Member>(std::move(members));
}

// Calls `combine` with two sets of one type.
template <class Combine>
base::Result<AttributeValue> combine_sets(const AttributeValue& a, const AttributeValue& b, Combine combine) {
  if (a.type() != b.type()) return refuse_type();
  if (const auto* strings = a.get_if<item::StringSet>()) return combine(*strings, b.as<item::StringSet>());
  if (const auto* numbers = a.get_if<item::NumberSet>()) return combine(*numbers, b.as<item::NumberSet>());
  if (const auto* binaries = a.get_if<item::BinarySet>()) return combine(*binaries, b.as<item::BinarySet>());
  return refuse_type();
}

}  // namespace

base::Result<AttributeValue> compute(const Scope& scope, const Node& node, const item::Map& before) {
  switch (node.kind) {
    case NodeKind::value:
      return *scope.value_of(node);
    case NodeKind::path: {
      const AttributeValue* found = find(scope, node.path(), before);
      if (found != nullptr) return *found;
      return base::invalid("The provided expression refers to an attribute that does not exist in the item");
    }
    case NodeKind::sum:
    case NodeKind::difference:
      return calculate(scope, node, before);
    default:
      break;
  }
  CHECK(node.kind == NodeKind::function);
  if (node.function == Function::list_append) return append(scope, node, before);
  const AttributeValue* existing = find(scope, scope.tree.child(node, 0).path(), before);
  if (existing != nullptr) return *existing;
  return compute(scope, scope.tree.child(node, 1), before);
}

base::Result<AttributeValue> add(const AttributeValue* current, const AttributeValue& operand) {
  if (current == nullptr) return operand;
  const auto* number = operand.get_if<item::Number>();
  if (number == nullptr)
    return combine_sets(*current, operand, [](const auto& a, const auto& b) { return unite(a, b); });
  const auto* base_number = current->get_if<item::Number>();
  if (base_number == nullptr) return refuse_type();
  return as_value(item::Number::add(*base_number, *number));
}

base::Result<AttributeValue> subtract(const AttributeValue& current, const AttributeValue& operand) {
  return combine_sets(current, operand, [](const auto& a, const auto& b) { return difference(a, b); });
}

bool is_empty_set(const AttributeValue& value) {
  if (const auto* strings = value.get_if<item::StringSet>()) return strings->empty();
  if (const auto* numbers = value.get_if<item::NumberSet>()) return numbers->empty();
  if (const auto* binaries = value.get_if<item::BinarySet>()) return binaries->empty();
  return false;
}

}  // namespace postino::expr
