#include "partiql/keyed_where.h"

#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

void collect_conjuncts(const Expression& condition, std::vector<const Expression*>& conjuncts) {
  if (condition.kind != ExpressionKind::logical_and) {
    conjuncts.push_back(&condition);
    return;
  }
  for (const Expression& part : condition.operands) collect_conjuncts(part, conjuncts);
}

bool names(const Expression& operand, const std::string& attribute) {
  return operand.kind == ExpressionKind::path && operand.path.size() == 1 && operand.path.front().name == attribute;
}

// The value that the attribute has to equal; nullptr when the condition says something else.
const item::AttributeValue* required_value(const Expression& condition, const std::string& attribute,
                                           const Parameters& parameters) {
  if (condition.kind != ExpressionKind::comparison || condition.operation != Operation::equal) return nullptr;
  if (names(condition.operands[0], attribute)) return constant_of(condition.operands[1], parameters);
  return names(condition.operands[1], attribute) ? constant_of(condition.operands[0], parameters) : nullptr;
}

}  // namespace

KeyedWhere split_where(const std::optional<Expression>& where, const KeyAttributes& key, const Parameters& parameters) {
  KeyedWhere result;
  if (!where) return result;
  std::vector<const Expression*> conjuncts;
  collect_conjuncts(*where, conjuncts);
  const std::vector<const KeyAttribute*> attributes = key.all();
  for (const Expression* conjunct : conjuncts) {
    bool taken = false;
    for (const KeyAttribute* attribute : attributes) {
      const item::AttributeValue* value = required_value(*conjunct, attribute->name, parameters);
      if (value == nullptr) continue;
      const item::AttributeValue* known = result.key.find(attribute->name);
      taken = known == nullptr || *known == *value;
      if (known == nullptr) result.key.set(attribute->name, *value);
      if (!taken && !result.conflicting_key) result.conflicting_key = attribute->name;
    }
    if (!taken) result.conditions.push_back(conjunct);
  }
  return result;
}

store::Answer<void> check_key_types(const item::Map& key, const KeyAttributes& attributes) {
  for (const KeyAttribute* attribute : attributes.all()) {
    const item::AttributeValue* value = key.find(attribute->name);
    if (value == nullptr || value->type() != attribute->type) return store::refuse_invalid(std::string(key_mismatch));
  }
  return {};
}

bool is_complete(const item::Key& key, const KeyAttributes& attributes) {
  return key.size() == (attributes.range ? 2U : 1U);
}

}  // namespace postino::partiql
