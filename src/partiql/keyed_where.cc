#include "partiql/keyed_where.h"

namespace postino::partiql {

namespace {

using Kind = ExpressionKind;

void collect_conjuncts(const Expression& condition, std::vector<const Expression*>& conjuncts) {
  if (condition.kind != Kind::logical_and) {
    conjuncts.push_back(&condition);
    return;
  }
  for (const Expression& part : condition.operands) collect_conjuncts(part, conjuncts);
}

bool names(const Expression& operand, const std::string& attribute) {
  return operand.kind == Kind::path && operand.path.size() == 1 && operand.path.front().name == attribute;
}

// The value that the attribute has to equal; nullptr when the condition says something else.
const item::AttributeValue* required_value(const Expression& condition, const std::string& attribute,
                                           const Parameters& parameters) {
  if (condition.kind != Kind::comparison || condition.operation != Operation::equal) return nullptr;
  if (names(condition.operands[0], attribute)) return constant_of(condition.operands[1], parameters);
  return names(condition.operands[1], attribute) ? constant_of(condition.operands[0], parameters) : nullptr;
}

}  // namespace

KeyedWhere split_where(const std::optional<Expression>& where, const KeyAttributes& key, const Parameters& parameters) {
  KeyedWhere result;
  if (!where) return result;
  std::vector<const Expression*> conjuncts;
  collect_conjuncts(*where, conjuncts);
  std::vector<const std::string*> attributes = {&key.hash.name};
  if (key.range) attributes.push_back(&key.range->name);
  for (const Expression* conjunct : conjuncts) {
    bool taken = false;
    for (const std::string* attribute : attributes) {
      const item::AttributeValue* value = required_value(*conjunct, *attribute, parameters);
      if (value == nullptr) continue;
      const item::AttributeValue* known = result.key.find(*attribute);
      taken = known == nullptr || *known == *value;
      if (known == nullptr) result.key.set(*attribute, *value);
      if (!taken && !result.conflicting_key) result.conflicting_key = *attribute;
    }
    if (!taken) result.conditions.push_back(conjunct);
  }
  return result;
}

bool is_complete(const item::Key& key, const KeyAttributes& attributes) {
  return key.size() == (attributes.range ? 2U : 1U);
}

}  // namespace postino::partiql
