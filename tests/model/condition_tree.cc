#include <algorithm>

#include "expression_tree.h"

namespace postino::model {

namespace {

using item::AttributeValue;
using item::Type;

std::optional<AttributeValue> size_function(const AttributeValue& value) {
  switch (value.type()) {
    case Type::string:
      return static_cast<std::int64_t>(value.as<std::string>().size());
    case Type::binary:
      return static_cast<std::int64_t>(value.as<item::Binary>().bytes.size());
    case Type::string_set:
      return static_cast<std::int64_t>(value.as<item::StringSet>().size());
    case Type::number_set:
      return static_cast<std::int64_t>(value.as<item::NumberSet>().size());
    case Type::binary_set:
      return static_cast<std::int64_t>(value.as<item::BinarySet>().size());
    case Type::list:
      return static_cast<std::int64_t>(value.as<item::List>().size());
    case Type::map:
      return static_cast<std::int64_t>(value.as<item::Map>().size());
    default:
      return std::nullopt;
  }
}

std::optional<AttributeValue> value_of(const Operand& operand, const item::Item& item) {
  if (operand.kind == Operand::Kind::literal) return operand.literal;
  const AttributeValue* found = find(item, operand.path);
  if (found == nullptr) return std::nullopt;
  return operand.kind == Operand::Kind::size ? size_function(*found) : *found;
}

bool is_ordering(Condition::Kind kind) {
  return kind == Condition::Kind::less || kind == Condition::Kind::less_equal || kind == Condition::Kind::greater ||
         kind == Condition::Kind::greater_equal;
}

bool ordered(const AttributeValue& a, Condition::Kind kind, const AttributeValue& b) {
  if (a.type() != b.type() || !has_order(a.type())) return false;
  const auto order = compare(a, b);
  if (kind == Condition::Kind::less) return order < 0;
  if (kind == Condition::Kind::less_equal) return order <= 0;
  return kind == Condition::Kind::greater ? order > 0 : order >= 0;
}

const std::string& bytes_in(const AttributeValue& value) {
  return value.type() == Type::string ? value.as<std::string>() : value.as<item::Binary>().bytes;
}

bool contains(const AttributeValue& container, const AttributeValue& wanted) {
  const auto is_member = [&](const auto& members) {
    return std::ranges::any_of(members, [&](const auto& member) { return AttributeValue(member) == wanted; });
  };
  if (container.type() == Type::string || container.type() == Type::binary)
    return wanted.type() == container.type() && bytes_in(container).find(bytes_in(wanted)) != std::string::npos;
  if (const auto* strings = container.get_if<item::StringSet>()) return is_member(strings->members());
  if (const auto* numbers = container.get_if<item::NumberSet>()) return is_member(numbers->members());
  if (const auto* binaries = container.get_if<item::BinarySet>()) return is_member(binaries->members());
  if (const auto* list = container.get_if<item::List>()) return is_member(*list);
  return false;
}

bool is_literal(const Operand& operand) { return operand.kind == Operand::Kind::literal; }

bool names_a_type(const std::string& text) {
  static const std::vector<std::string> names = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};
  return std::ranges::find(names, text) != names.end();
}

// Literals and size() have types that are known before any item is seen.
template <class Allowed>
bool all_known_types(const std::vector<Operand>& operands, Allowed allowed) {
  return std::ranges::all_of(operands, [&](const Operand& operand) {
    if (operand.kind == Operand::Kind::path) return true;
    return allowed(is_literal(operand) ? operand.literal.type() : Type::number);
  });
}

bool repeats_first(const std::vector<Operand>& operands) {
  return std::ranges::any_of(operands.begin() + 1, operands.end(), [&](const Operand& other) {
    return operands[0].kind == Operand::Kind::path && other.kind == Operand::Kind::path &&
           operands[0].path == other.path;
  });
}

bool has_bad_bounds(const Operand& lower, const Operand& upper) {
  if (!is_literal(lower) || !is_literal(upper)) return false;
  return lower.literal.type() != upper.literal.type() || compare(lower.literal, upper.literal) > 0;
}

}  // namespace

bool Condition::is_invalid() const {
  if (std::ranges::any_of(parts, &Condition::is_invalid)) return true;
  if (operands.size() > 1 && repeats_first(operands)) return true;
  if (is_ordering(kind)) return !all_known_types(operands, has_order);
  if (kind == Condition::Kind::between)
    return !all_known_types(operands, has_order) || has_bad_bounds(operands[1], operands[2]);
  if (kind == Condition::Kind::begins_with)
    return !all_known_types(operands, [](Type type) { return type == Type::string || type == Type::binary; });
  if (kind == Condition::Kind::type_is)
    return operands[1].literal.type() != Type::string || !names_a_type(operands[1].literal.as<std::string>());
  return false;
}

bool Condition::matches(const item::Item& item) const {
  const auto holds = [&](const Condition& part) { return part.matches(item); };
  if (kind == Condition::Kind::all_of) return std::ranges::all_of(parts, holds);
  if (kind == Condition::Kind::any_of) return std::ranges::any_of(parts, holds);
  if (kind == Condition::Kind::negation) return !parts[0].matches(item);

  std::vector<std::optional<AttributeValue>> values;
  for (const Operand& operand : operands) values.push_back(value_of(operand, item));
  if (kind == Condition::Kind::exists) return values[0].has_value();
  if (kind == Condition::Kind::not_exists) return !values[0].has_value();
  if (kind == Condition::Kind::in)
    return values[0] && std::any_of(values.begin() + 1, values.end(),
                                    [&](const auto& value) { return value && *value == *values[0]; });
  if (!std::ranges::all_of(values, [](const auto& value) { return value.has_value(); }))
    return kind == Condition::Kind::not_equal;

  const AttributeValue& first = *values[0];
  const AttributeValue& second = *values[1];
  if (kind == Condition::Kind::equal) return first == second;
  if (kind == Condition::Kind::not_equal) return !(first == second);
  if (kind == Condition::Kind::between)
    return ordered(first, Condition::Kind::greater_equal, second) &&
           ordered(first, Condition::Kind::less_equal, *values[2]);
  if (kind == Condition::Kind::type_is) return item::type_name(first.type()) == second.as<std::string>();
  if (kind == Condition::Kind::contains) return contains(first, second);
  if (kind == Condition::Kind::begins_with)
    return first.type() == second.type() && (first.type() == Type::string || first.type() == Type::binary) &&
           bytes_in(first).substr(0, bytes_in(second).size()) == bytes_in(second);
  return ordered(first, kind, second);
}

void Condition::add_attributes(std::vector<std::string>& names) const {
  for (const Condition& part : parts) part.add_attributes(names);
  for (const Operand& operand : operands)
    if (!is_literal(operand)) names.push_back(std::get<std::string>(operand.path.front()));
}

}  // namespace postino::model
