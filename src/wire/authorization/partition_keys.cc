#include "wire/authorization/partition_keys.h"

#include <algorithm>
#include <array>

#include "base/base64.h"

namespace postino::wire {

namespace {

using access::ContextKey;

constexpr auto part_keys =
    std::to_array<ContextKey>({ContextKey::first_partition_key_values, ContextKey::second_partition_key_values,
                               ContextKey::third_partition_key_values, ContextKey::fourth_partition_key_values});

void add_part(access::Context& context, std::size_t part, const item::AttributeValue& value) {
  std::string text = key_text(value);
  if (part == 0) context.add(ContextKey::leading_keys, text);
  if (part < part_keys.size()) context.add(part_keys.at(part), std::move(text));
}

// The attributes of a partition key, in their order.
std::vector<std::string> partition_names(const store::KeySchema& schema) {
  std::vector<std::string> names;
  for (const store::KeyElement& element : schema)
    if (element.role == store::KeyRole::hash) names.push_back(element.name);
  return names;
}

store::Answer<std::vector<std::string>> partition_names(const ItemAccess& access, store::Store& store) {
  TRY(const store::TableDescription table, store.describe_table(access.table));
  if (access.index == nullptr) return partition_names(table.key_schema);
  for (const auto* indexes : {&table.global_indexes, &table.local_indexes}) {
    const auto found = std::ranges::find(*indexes, *access.index, &store::IndexDescription::name);
    if (found != indexes->end()) return partition_names(found->key_schema);
  }
  return store::refuse_invalid("The table does not have the specified index: " + *access.index);
}

using Conjuncts = std::vector<expr::KeyConjunct>;

// The store refuses a condition without an equality on the whole partition key, so that a single equality is that.
store::Answer<void> add_conjuncts(const Conjuncts& conjuncts, const ItemAccess& access, store::Store& store,
                                  access::Context& context) {
  const auto is_equality = [](const expr::KeyConjunct& each) { return each.op == expr::KeyOperator::equal; };
  if (std::ranges::count_if(conjuncts, is_equality) == 1) {
    add_part(context, 0, *std::ranges::find_if(conjuncts, is_equality)->value);
    return {};
  }
  TRY(const std::vector<std::string> names, partition_names(access, store));
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const expr::KeyConjunct& each : conjuncts)
      if (is_equality(each) && each.attribute == names[i]) add_part(context, i, *each.value);
  return {};
}

store::Answer<void> add_key_condition(const ItemAccess& access, store::Store& store, access::Context& context) {
  TRY(const expr::Condition tree, expr::cached_condition((*access.key_condition)->text(), expr::Kind::key_condition));
  expr::Binder binder(*access.placeholders);
  TRY(const Conjuncts conjuncts, binder.bind_key_condition(tree));
  return add_conjuncts(conjuncts, access, store, context);
}

void add_named(const item::Map& attributes, const std::vector<std::string>& names, access::Context& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const item::AttributeValue* value = attributes.find(names[i])) add_part(context, i, *value);
}

}  // namespace

std::string key_text(const item::AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* number = value.get_if<item::Number>()) return number->to_string();
  if (const auto* binary = value.get_if<item::Binary>()) return base::to_base64(binary->bytes);
  return {};
}

store::Answer<void> add_partition_keys(const ItemAccess& access, store::Store& store, access::Context& context) {
  for (const item::AttributeValue* value : access.partitions) add_part(context, 0, *value);
  if (access.key_condition != nullptr && *access.key_condition) TRY_VOID(add_key_condition(access, store, context));
  // A key of one attribute is the partition key, or the store refuses it.
  const auto is_whole = [](const item::Map* key) { return key->size() == 1; };
  if (access.items.empty() && std::ranges::all_of(access.keys, is_whole)) {
    for (const item::Map* key : access.keys) add_part(context, 0, key->begin()->value);
    return {};
  }
  TRY(const std::vector<std::string> names, partition_names(access, store));
  for (const item::Map* key : access.keys) add_named(*key, names, context);
  for (const item::Map* each : access.items) add_named(*each, names, context);
  return {};
}

}  // namespace postino::wire
