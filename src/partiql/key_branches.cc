#include "partiql/key_branches.h"

#include <algorithm>

namespace postino::partiql {

namespace {

using store::refuse_invalid;

Operation mirrored(Operation operation) {
  switch (operation) {
    case Operation::less:
      return Operation::greater;
    case Operation::less_equal:
      return Operation::greater_equal;
    case Operation::greater:
      return Operation::less;
    case Operation::greater_equal:
      return Operation::less_equal;
    default:
      return operation;
  }
}

void collect(const Expression& expression, std::vector<std::string_view>& names) {
  if (expression.kind == ExpressionKind::path) {
    const std::string_view name = expression.path.front().name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const Expression& operand : expression.operands) collect(operand, names);
}

KeyBranch both(const KeyBranch& a, const KeyBranch& b) {
  KeyBranch result = a;
  if (result.partition == nullptr)
    result.partition = b.partition;
  else if (b.partition != nullptr && !(*a.partition == *b.partition))
    result.impossible = true;
  result.impossible = result.impossible || b.impossible;
  result.range = a.range.intersection(b.range);
  result.filtered = a.filtered || b.filtered;
  result.excludes_range = a.excludes_range || b.excludes_range;
  for (const std::string_view name : b.filter_attributes)
    if (std::ranges::find(result.filter_attributes, name) == result.filter_attributes.end())
      result.filter_attributes.push_back(name);
  return result;
}

store::Answer<void> check_count(std::size_t count) {
  if (count > max_decomposed_reads) return refuse_invalid("Too many decomposed read operations for a given query.");
  return {};
}

}  // namespace

std::vector<std::string_view> attributes_of(const Expression& condition) {
  std::vector<std::string_view> names;
  collect(condition, names);
  return names;
}

const KeyAttribute* KeyBranches::key_of(const Expression& operand) const {
  if (operand.kind != ExpressionKind::path || operand.path.size() != 1) return nullptr;
  if (operand.path.front().name == key_.hash.name) return &key_.hash;
  return key_.range && operand.path.front().name == key_.range->name ? &*key_.range : nullptr;
}

bool KeyBranches::all_constant(const Expression& expression, std::size_t first) const {
  return std::all_of(expression.operands.begin() + static_cast<std::ptrdiff_t>(first), expression.operands.end(),
                     [&](const Expression& operand) { return constant_of(operand, parameters_) != nullptr; });
}

// The key that a condition tests, if it does so in a way that a Query can.
const KeyAttribute* KeyBranches::tested_key(const Expression& leaf) const {
  if (leaf.operands.empty()) return nullptr;
  const KeyAttribute* key = key_of(leaf.operands[0]);
  switch (leaf.kind) {
    case ExpressionKind::comparison: {
      if (leaf.operation == Operation::not_equal) return nullptr;
      const bool reversed = key == nullptr;
      if (reversed) key = key_of(leaf.operands[1]);
      if (key == nullptr || constant_of(leaf.operands[reversed ? 0 : 1], parameters_) == nullptr) return nullptr;
      return is_hash(key) && leaf.operation != Operation::equal ? nullptr : key;
    }
    case ExpressionKind::in:
      return key != nullptr && all_constant(leaf, 1) ? key : nullptr;
    case ExpressionKind::between:
      return key != nullptr && !is_hash(key) && all_constant(leaf, 1) ? key : nullptr;
    case ExpressionKind::function:
      return leaf.name == "begins_with" && key != nullptr && !is_hash(key) && all_constant(leaf, 1) ? key : nullptr;
    default:
      return nullptr;
  }
}

bool KeyBranches::is_key_test(const Expression& leaf) const { return tested_key(leaf) != nullptr; }

bool KeyBranches::has_key_test(const Expression& condition) const {
  if (condition.kind == ExpressionKind::logical_and || condition.kind == ExpressionKind::logical_or)
    return std::ranges::any_of(condition.operands, [&](const Expression& part) { return has_key_test(part); });
  return is_key_test(condition);
}

bool KeyBranches::name_partition(const Expression& condition) const {
  const auto names = [&](const Expression& part) { return name_partition(part); };
  if (condition.kind == ExpressionKind::logical_and) return std::ranges::any_of(condition.operands, names);
  if (condition.kind == ExpressionKind::logical_or) return std::ranges::all_of(condition.operands, names);
  return is_hash(tested_key(condition));
}

store::Answer<std::vector<KeyBranch>> KeyBranches::of(const Expression& condition) const {
  if (condition.kind == ExpressionKind::logical_and) {
    std::vector<KeyBranch> product(1);
    for (const Expression& part : condition.operands) {
      TRY(const std::vector<KeyBranch> factors, of(part));
      TRY_VOID(check_count(product.size() * factors.size()));
      std::vector<KeyBranch> next;
      for (const KeyBranch& left : product)
        for (const KeyBranch& right : factors) next.push_back(both(left, right));
      product = std::move(next);
    }
    return product;
  }
  if (condition.kind == ExpressionKind::logical_or && has_key_test(condition)) {
    std::vector<KeyBranch> all;
    for (const Expression& part : condition.operands) {
      TRY(std::vector<KeyBranch> branches, of(part));
      std::ranges::move(branches, std::back_inserter(all));
      TRY_VOID(check_count(all.size()));
    }
    return all;
  }
  if (is_key_test(condition)) return of_key_test(condition);
  return std::vector<KeyBranch>{filtered_by(condition)};
}

store::Answer<const item::AttributeValue*> KeyBranches::key_value(const KeyAttribute& key,
                                                                  const Expression& value) const {
  const item::AttributeValue* constant = constant_of(value, parameters_);
  if (!any_type_ && constant->type() != key.type)
    return refuse_invalid("Key attribute's data type should match its data type in table's schema: Key " + key.name);
  return constant;
}

store::Answer<KeyBranch> KeyBranches::at(const KeyAttribute& key, const Expression& value) const {
  KeyBranch branch;
  TRY(const item::AttributeValue* constant, key_value(key, value));
  if (is_hash(&key))
    branch.partition = constant;
  else
    branch.range = Interval::at(*constant);
  return branch;
}

store::Answer<std::vector<KeyBranch>> KeyBranches::of_key_test(const Expression& leaf) const {
  const KeyAttribute& key = *tested_key(leaf);
  std::vector<KeyBranch> branches;
  if (leaf.kind == ExpressionKind::in) {
    TRY_VOID(check_count(leaf.operands.size() - 1));
    for (std::size_t i = 1; i < leaf.operands.size(); ++i) {
      TRY(KeyBranch branch, at(key, leaf.operands[i]));
      branches.push_back(std::move(branch));
    }
    return branches;
  }
  const bool reversed = key_of(leaf.operands[0]) == nullptr;
  const Expression& operand = leaf.operands[reversed ? 0 : 1];
  KeyBranch branch;
  if (leaf.kind == ExpressionKind::comparison && leaf.operation == Operation::equal) {
    TRY(branch, at(key, operand));
  } else {
    TRY(const item::AttributeValue* value, key_value(key, operand));
    if (leaf.kind == ExpressionKind::comparison) {
      branch.range = Interval::compared(reversed ? mirrored(leaf.operation) : leaf.operation, *value);
    } else if (leaf.kind == ExpressionKind::between) {
      TRY(const item::AttributeValue* upper, key_value(key, leaf.operands[2]));
      branch.range = Interval::between(*value, *upper);
    } else {
      branch.range = Interval::starting_with(*value);
    }
  }
  branches.push_back(std::move(branch));
  return branches;
}

KeyBranch KeyBranches::filtered_by(const Expression& condition) const {
  KeyBranch branch;
  branch.filtered = true;
  branch.filter_attributes = attributes_of(condition);
  const bool excludes = condition.kind == ExpressionKind::logical_not ||
                        (condition.kind == ExpressionKind::comparison && condition.operation == Operation::not_equal);
  if (excludes && key_.range)
    branch.excludes_range =
        std::ranges::find(branch.filter_attributes, key_.range->name) != branch.filter_attributes.end();
  return branch;
}

}  // namespace postino::partiql
