#include <algorithm>

#include "expr/check.h"
#include "expr/expression.h"
#include "expr/path.h"
#include "expr/placeholder_keys.h"
#include "expr/scope.h"
#include "item/size.h"

namespace postino::expr {
namespace {

constexpr std::string_view names_parameter = "ExpressionAttributeNames";
constexpr std::string_view values_parameter = "ExpressionAttributeValues";

std::string_view key_of(const Names::value_type& entry) { return entry.first; }
std::string_view key_of(const item::Attribute& entry) { return entry.name; }

template <class Map>
std::vector<std::string_view> keys_of(const Map& map) {
  std::vector<std::string_view> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(key_of(entry));
  return keys;
}

template <class Map>
base::Result<void> check_keys(std::string_view parameter, char sign, const Map& map) {
  if (map.empty()) return base::invalid(std::string(parameter) + " must not be empty");
  const auto valid = [&](const auto& entry) {
    return check_placeholder_key(parameter, sign, key_of(entry)).has_value();
  };
  if (std::ranges::all_of(map, valid)) return {};
  for (const std::string_view key : in_hash_order(keys_of(map))) TRY_VOID(check_placeholder_key(parameter, sign, key));
  return {};
}

// Where there are faults of several, DynamoDB tells of the one that Java comes upon first.
base::Result<void> check_named_attributes(const Names& names) {
  const auto valid = [](const auto& entry) { return item::check_attribute_name(entry.second).has_value(); };
  if (std::ranges::all_of(names, valid)) return {};
  for (const std::string_view key : in_hash_order(keys_of(names)))
    if (auto checked = item::check_attribute_name(names.find(key)->second); !checked)
      return base::invalid(std::string(names_parameter) + " contains invalid value: " + checked.error().message +
                           " for key " + std::string(key));
  return {};
}

template <class Map>
base::Result<void> check_used(std::string_view parameter, const Map& map, std::vector<std::string_view> used) {
  std::ranges::sort(used);
  const auto is_used = [&](std::string_view key) { return std::ranges::binary_search(used, key); };
  if (std::ranges::all_of(map, [&](const auto& entry) { return is_used(key_of(entry)); })) return {};
  std::string unused;
  for (const std::string_view key : in_hash_order(keys_of(map))) {
    if (is_used(key)) continue;
    if (!unused.empty()) unused += ", ";
    unused += key;
  }
  return base::invalid("Value provided in " + std::string(parameter) + " unused in expressions: keys: {" + unused +
                       "}");
}

}  // namespace

base::Result<void> Binder::check_maps(bool any_expression, std::string_view absent) const {
  static constexpr std::string_view only_with = " can only be specified when using expressions";
  if (placeholders_->names) {
    if (!any_expression) return base::invalid(std::string(names_parameter).append(only_with));
    TRY_VOID(check_keys(names_parameter, '#', *placeholders_->names));
    TRY_VOID(check_named_attributes(*placeholders_->names));
  }
  if (placeholders_->values) {
    if (!any_expression) {
      std::string message = std::string(values_parameter).append(only_with);
      if (!absent.empty()) message.append(": ").append(absent);
      return base::invalid(std::move(message));
    }
    TRY_VOID(check_keys(values_parameter, ':', *placeholders_->values));
  }
  return {};
}

std::vector<std::string_view> Binder::resolve_names(const SyntaxTree& tree) {
  std::vector<std::string_view> resolved;
  resolved.reserve(tree.names.size());
  for (const NameSlot& slot : tree.names) {
    if (!slot.placeholder) {
      resolved.push_back(slot.text);
      continue;
    }
    resolved.emplace_back();
    if (!placeholders_->names) continue;
    const auto found = placeholders_->names->find(slot.text);
    if (found == placeholders_->names->end()) continue;
    resolved.back() = found->second;
    used_names_.push_back(found->first);
  }
  return resolved;
}

std::vector<const item::AttributeValue*> Binder::resolve_values(const SyntaxTree& tree) {
  std::vector<const item::AttributeValue*> resolved;
  resolved.reserve(tree.values.size());
  for (const std::string& key : tree.values) {
    resolved.push_back(nullptr);
    if (!placeholders_->values) continue;
    const auto found = std::ranges::lower_bound(*placeholders_->values, key, {}, &item::Attribute::name);
    if (found == placeholders_->values->end() || found->name != key) continue;
    resolved.back() = &found->value;
    used_values_.push_back(found->name);
  }
  return resolved;
}

base::Result<BoundCondition> Binder::bind(const Condition& condition) {
  BoundCondition bound;
  bound.tree_ = condition;
  bound.names_ = resolve_names(*condition);
  bound.values_ = resolve_values(*condition);
  TRY_VOID(check_condition(*condition, Scope{*condition, bound.names_, bound.values_}));
  return bound;
}

base::Result<BoundUpdate> Binder::bind(const Update& update) {
  BoundUpdate bound;
  bound.tree_ = update;
  bound.names_ = resolve_names(*update);
  bound.values_ = resolve_values(*update);
  TRY_VOID(check_update(*update, Scope{*update, bound.names_, bound.values_}));
  return bound;
}

base::Result<BoundProjection> Binder::bind(const Projection& projection) {
  BoundProjection bound;
  bound.tree_ = projection;
  bound.names_ = resolve_names(*projection);
  const Scope scope{*projection, bound.names_, {}};
  TRY_VOID(check_projection(*projection, scope));
  bound.sorted_paths_ = sorted(scope, projection->paths);
  return bound;
}

base::Result<void> Binder::check_all_used() const {
  if (placeholders_->names) TRY_VOID(check_used(names_parameter, *placeholders_->names, used_names_));
  if (placeholders_->values) TRY_VOID(check_used(values_parameter, *placeholders_->values, used_values_));
  return {};
}

}  // namespace postino::expr
