#include "expr/evaluate.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "expr/expression.h"
#include "expr/path.h"
#include "expr/scope.h"

namespace postino::expr {
namespace {

using item::AttributeValue;

// Byte order, as unsigned bytes: char_traits compares that way whatever the sign of char.
std::optional<std::strong_ordering> order(const AttributeValue& left, const AttributeValue& right) {
  if (left.type() != right.type()) return std::nullopt;
  if (const auto* string = left.get_if<std::string>()) return *string <=> right.as<std::string>();
  if (const auto* number = left.get_if<item::Number>()) return *number <=> right.as<item::Number>();
  if (const auto* binary = left.get_if<item::Binary>()) return binary->bytes <=> right.as<item::Binary>().bytes;
  return std::nullopt;
}

template <class Member>
bool has_member(const item::Set<Member>& set, const AttributeValue& wanted) {
  const auto* member = wanted.get_if<Member>();
  return member != nullptr && set.contains(*member);
}

std::optional<std::size_t> measured_size(const AttributeValue& value) {
  return std::visit(
      []<class T>(const T& content) -> std::optional<std::size_t> {
        if constexpr (std::is_same_v<T, std::string>)
          return base::utf16_unit_count(content);
        else if constexpr (requires { content.bytes; })
          return content.bytes.size();
        else if constexpr (requires { content.size(); })
          return content.size();
        else
          return std::nullopt;
      },
      value.storage());
}

class Evaluation {
 public:
  Evaluation(const Scope& scope, const item::Map& item) : scope_(scope), item_(item) {}

  bool holds(const Node& node) const {
    switch (node.kind) {
      case NodeKind::logical_and:
        return all_of(node, true);
      case NodeKind::logical_or:
        return !all_of(node, false);
      case NodeKind::logical_not:
        return !holds(child(node, 0));
      case NodeKind::comparison:
        return compare_operands(node);
      case NodeKind::between:
        return is_between(node);
      case NodeKind::in:
        return is_in(node);
      default:
        return call(node);
    }
  }

 private:
  const Node& child(const Node& node, std::size_t position) const { return scope_.tree.child(node, position); }

  bool all_of(const Node& node, bool expected) const {
    for (std::size_t i = 0; i < node.count; ++i)
      if (holds(child(node, i)) != expected) return false;
    return true;
  }

  // nullptr for what is missing. `scratch` holds what has to be computed; making one costs nothing.
  const AttributeValue* operand(const Node& node, AttributeValue& scratch) const {
    if (node.kind == NodeKind::value) return scope_.value_of(node);
    if (node.kind == NodeKind::path) return find(scope_, node.path(), item_);
    const AttributeValue* measured = operand(child(node, 0), scratch);
    if (measured == nullptr) return nullptr;
    const auto size = measured_size(*measured);
    if (!size) return nullptr;
    scratch = static_cast<std::int64_t>(*size);
    return &scratch;
  }

  bool compare_operands(const Node& node) const {
    AttributeValue left_scratch;
    AttributeValue right_scratch;
    const AttributeValue* left = operand(child(node, 0), left_scratch);
    const AttributeValue* right = operand(child(node, 1), right_scratch);
    if (left == nullptr || right == nullptr) return node.comparator == Comparator::not_equal;
    return compares(*left, node.comparator, *right);
  }

  bool is_between(const Node& node) const {
    AttributeValue scratch[3];
    const AttributeValue* value = operand(child(node, 0), scratch[0]);
    const AttributeValue* lower = operand(child(node, 1), scratch[1]);
    const AttributeValue* upper = operand(child(node, 2), scratch[2]);
    if (value == nullptr || lower == nullptr || upper == nullptr) return false;
    return compares(*value, Comparator::greater_equal, *lower) && compares(*value, Comparator::less_equal, *upper);
  }

  bool is_in(const Node& node) const {
    AttributeValue scratch;
    const AttributeValue* value = operand(child(node, 0), scratch);
    if (value == nullptr) return false;
    for (std::size_t i = 1; i < node.count; ++i) {
      AttributeValue member_scratch;
      const AttributeValue* member = operand(child(node, i), member_scratch);
      if (member != nullptr && *member == *value) return true;
    }
    return false;
  }

  bool call(const Node& node) const {
    AttributeValue scratch;
    const AttributeValue* first = operand(child(node, 0), scratch);
    if (node.function == Function::attribute_exists) return first != nullptr;
    if (node.function == Function::attribute_not_exists) return first == nullptr;

    AttributeValue second_scratch;
    const AttributeValue* second = operand(child(node, 1), second_scratch);
    if (first == nullptr || second == nullptr) return false;
    if (node.function == Function::attribute_type) return item::type_name(first->type()) == second->as<std::string>();
    return node.function == Function::contains ? contains(*first, *second) : begins_with(*first, *second);
  }

  const Scope& scope_;
  const item::Map& item_;
};

}  // namespace

bool compares(const AttributeValue& left, Comparator comparator, const AttributeValue& right) {
  if (comparator == Comparator::equal) return left == right;
  if (comparator == Comparator::not_equal) return !(left == right);
  const auto result = order(left, right);
  if (!result) return false;
  switch (comparator) {
    case Comparator::less:
      return *result < 0;
    case Comparator::less_equal:
      return *result <= 0;
    case Comparator::greater:
      return *result > 0;
    default:
      return *result >= 0;
  }
}

bool contains(const AttributeValue& container, const AttributeValue& wanted) {
  if (const auto* text = container.get_if<std::string>()) {
    const auto* part = wanted.get_if<std::string>();
    return part != nullptr && text->find(*part) != std::string::npos;
  }
  if (const auto* binary = container.get_if<item::Binary>()) {
    const auto* part = wanted.get_if<item::Binary>();
    return part != nullptr && binary->bytes.find(part->bytes) != std::string::npos;
  }
  if (const auto* strings = container.get_if<item::StringSet>()) return has_member(*strings, wanted);
  if (const auto* numbers = container.get_if<item::NumberSet>()) return has_member(*numbers, wanted);
  if (const auto* binaries = container.get_if<item::BinarySet>()) return has_member(*binaries, wanted);
  const auto* list = container.get_if<item::List>();
  return list != nullptr && std::ranges::find(*list, wanted) != list->end();
}

bool begins_with(const AttributeValue& value, const AttributeValue& prefix) {
  if (value.type() != prefix.type()) return false;
  if (const auto* text = value.get_if<std::string>()) return text->starts_with(prefix.as<std::string>());
  const auto* binary = value.get_if<item::Binary>();
  return binary != nullptr && binary->bytes.starts_with(prefix.as<item::Binary>().bytes);
}

bool BoundCondition::matches(const item::Map& item) const {
  const Scope scope{*tree_, names_, values_};
  return Evaluation(scope, item).holds(tree_->nodes[tree_->root]);
}

}  // namespace postino::expr
