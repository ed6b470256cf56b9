#include <algorithm>

#include "expression_tree.h"

namespace postino::model {

namespace {

using item::AttributeValue;
using item::Type;
using Section = UpdateAction::Section;

const std::string missing_operand = "The provided expression refers to an attribute that does not exist in the item";
const std::string wrong_type = "An operand in the update expression has an incorrect data type";
const std::string bad_path = "The document path provided in the update expression is invalid for update";

// A value, or why there is none.
struct Computed {
  std::optional<AttributeValue> value;
  std::string fault;
};

bool is_set(Type type) { return type == Type::string_set || type == Type::number_set || type == Type::binary_set; }

Computed add_numbers(const AttributeValue& a, const AttributeValue& b, bool subtract) {
  if (a.type() != Type::number || b.type() != Type::number) return {std::nullopt, wrong_type};
  const auto& left = a.as<item::Number>();
  const auto& right = b.as<item::Number>();
  const auto sum = subtract ? item::Number::subtract(left, right) : item::Number::add(left, right);
  if (!sum) return {std::nullopt, sum.error().message};
  return {AttributeValue(*sum), {}};
}

Computed compute(const UpdateValue& value, const item::Item& before) {
  if (value.kind == UpdateValue::Kind::literal) return {value.literal, {}};
  if (value.kind == UpdateValue::Kind::path || value.kind == UpdateValue::Kind::if_not_exists) {
    if (const AttributeValue* found = find(before, value.path)) return {*found, {}};
    if (value.kind == UpdateValue::Kind::path) return {std::nullopt, missing_operand};
    return compute(value.operands[0], before);
  }
  const Computed left = compute(value.operands[0], before);
  if (!left.value) return left;
  const Computed right = compute(value.operands[1], before);
  if (!right.value) return right;
  if (value.kind != UpdateValue::Kind::list_append)
    return add_numbers(*left.value, *right.value, value.kind == UpdateValue::Kind::minus);
  if (left.value->type() != Type::list || right.value->type() != Type::list) return {std::nullopt, wrong_type};
  item::List joined = left.value->as<item::List>();
  for (const AttributeValue& element : right.value->as<item::List>()) joined.push_back(element);
  return {AttributeValue(joined), {}};
}

template <class SetType>
AttributeValue changed_set(SetType set, const SetType& operand, bool subtract) {
  for (const auto& member : operand.members()) {
    if (subtract)
      set.erase(member);
    else
      set.insert(member);
  }
  return set;
}

Computed change_set(const AttributeValue& current, const AttributeValue& operand, bool subtract) {
  if (current.type() != operand.type()) return {std::nullopt, wrong_type};
  if (current.type() == Type::string_set)
    return {changed_set(current.as<item::StringSet>(), operand.as<item::StringSet>(), subtract), {}};
  if (current.type() == Type::number_set)
    return {changed_set(current.as<item::NumberSet>(), operand.as<item::NumberSet>(), subtract), {}};
  return {changed_set(current.as<item::BinarySet>(), operand.as<item::BinarySet>(), subtract), {}};
}

bool is_empty_set(const AttributeValue& value) {
  return (value.type() == Type::string_set && value.as<item::StringSet>().empty()) ||
         (value.type() == Type::number_set && value.as<item::NumberSet>().empty()) ||
         (value.type() == Type::binary_set && value.as<item::BinarySet>().empty());
}

Computed new_value(const UpdateAction& action, const item::Item& before) {
  const AttributeValue* current = find(before, action.target);
  if (action.section == Section::set) return compute(action.value, before);
  const AttributeValue& operand = action.value.literal;
  if (action.section == Section::add) {
    if (current == nullptr) return {operand, {}};
    return operand.type() == Type::number ? add_numbers(*current, operand, false)
                                          : change_set(*current, operand, false);
  }
  if (current == nullptr) return {};
  return change_set(*current, operand, true);
}

bool has_parent(const item::Item& before, const Path& target) {
  if (target.size() == 1) return true;
  const AttributeValue* parent = find(before, Path(target.begin(), target.end() - 1));
  const bool by_name = std::holds_alternative<std::string>(target.back());
  return parent != nullptr && parent->type() == (by_name ? Type::map : Type::list);
}

bool is_invalid_value(const UpdateValue& value) {
  if (std::ranges::any_of(value.operands, is_invalid_value)) return true;
  if (value.kind == UpdateValue::Kind::literal || value.kind == UpdateValue::Kind::path ||
      value.kind == UpdateValue::Kind::if_not_exists)
    return false;
  const Type needed = value.kind == UpdateValue::Kind::list_append ? Type::list : Type::number;
  return std::ranges::any_of(value.operands, [&](const UpdateValue& operand) {
    return operand.kind == UpdateValue::Kind::literal && operand.literal.type() != needed;
  });
}

bool any_collide(const std::vector<Path>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (collide(paths[i], paths[j])) return true;
  return false;
}

std::vector<Path> targets_of(const Update& update) {
  std::vector<Path> targets;
  for (const UpdateAction& action : update.actions) targets.push_back(action.target);
  return targets;
}

}  // namespace

bool Update::is_invalid() const {
  if (any_collide(targets_of(*this))) return true;
  return std::ranges::any_of(actions, [](const UpdateAction& action) {
    const Type type = action.value.literal.type();
    if (action.section == Section::set) return is_invalid_value(action.value);
    if (action.section == Section::add) return type != Type::number && !is_set(type);
    return action.section == Section::erase && !is_set(type);
  });
}

bool Update::creates() const {
  return std::ranges::any_of(actions, [](const UpdateAction& action) {
    return action.section == Section::set || action.section == Section::add;
  });
}

UpdateResult Update::apply(const item::Item& before) const {
  UpdateResult result;
  SparseDocument after(before);
  for (const UpdateAction& action : actions) {
    const bool removes = action.section == Section::remove;
    const Computed computed = removes ? Computed() : new_value(action, before);
    if (!computed.fault.empty()) result.faults.push_back(computed.fault);
    if (!has_parent(before, action.target)) {
      result.faults.push_back(bad_path);
    } else if (removes || (computed.value && is_empty_set(*computed.value))) {
      after.erase(action.target);
    } else if (computed.value) {
      after.set(action.target, *computed.value);
    }
  }
  if (result.faults.empty()) result.item = after.close_gaps();
  return result;
}

item::Item Update::touched(const item::Item& item) const { return Projection{targets_of(*this)}.apply(item); }

bool Projection::is_invalid() const { return any_collide(paths); }

item::Item Projection::apply(const item::Item& item) const {
  SparseDocument picked;
  for (const Path& path : paths)
    if (const AttributeValue* value = find(item, path)) picked.set(path, *value);
  return picked.close_gaps();
}

}  // namespace postino::model
