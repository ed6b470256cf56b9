#include "engine/items/key_condition.h"

#include <algorithm>

#include "item/ordered_key.h"

namespace postino::engine {

namespace {

using expr::KeyConjunct;
using expr::KeyOperator;
using store::refuse_invalid;

// The key attributes in play, whether they are the table's or an index's.
struct Schema {
  std::vector<const KeyPart*> hash;
  std::vector<const KeyPart*> range;
};

Schema schema_of(const Table& table, const Index* index) {
  Schema schema;
  if (index == nullptr) {
    schema.hash.push_back(&table.hash);
    if (table.range) schema.range.push_back(&*table.range);
    return schema;
  }
  for (const KeyPart& part : index->hash) schema.hash.push_back(&part);
  for (const KeyPart& part : index->range) schema.range.push_back(&part);
  return schema;
}

store::Answer<void> check_key_value(const KeyPart& part, const item::AttributeValue& value, bool may_be_empty) {
  if (value.type() != part.type)
    return refuse_invalid(
        "One or more parameter values were invalid: Condition parameter type does not match schema type");
  if (may_be_empty) return {};
  const auto* string = value.get_if<std::string>();
  const auto* binary = value.get_if<item::Binary>();
  if ((string != nullptr && string->empty()) || (binary != nullptr && binary->bytes.empty()))
    return refuse_invalid(
        std::string("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
                    "an empty ") +
        (string != nullptr ? "string" : "binary") + " value. Key: " + part.name);
  return {};
}

// The conjuncts in the order of the schema: all hash attributes, then the range attributes from the first on.
struct Matched {
  std::vector<const KeyConjunct*> hash;
  std::vector<const KeyConjunct*> range;
};

std::string joined_names(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// The conjunct about a key attribute, nullptr if there is none.
class Conjuncts {
 public:
  explicit Conjuncts(const std::vector<KeyConjunct>& all) : all_(all) {}

  const KeyConjunct* about(const KeyPart& part) const {
    const auto found = std::ranges::find(all_, part.name, &KeyConjunct::attribute);
    return found == all_.end() ? nullptr : &*found;
  }
  bool equate(const KeyPart& part) const {
    const KeyConjunct* conjunct = about(part);
    return conjunct != nullptr && conjunct->op == KeyOperator::equal;
  }

 private:
  const std::vector<KeyConjunct>& all_;
};

// Where a key has several attributes of one kind, messages name those that are not equated but have to be.
store::Answer<void> check_equalities(const Schema& schema, const Conjuncts& conjuncts) {
  std::vector<std::string_view> open;
  for (const KeyPart* part : schema.hash)
    if (!conjuncts.equate(*part)) open.push_back(part->name);
  if (!open.empty())
    return refuse_invalid("HASH key attributes " + joined_names(open) +
                          " must have equality conditions specified in the query");
  for (const KeyPart* part : schema.range) {
    if (!open.empty() && conjuncts.about(*part) != nullptr)
      return refuse_invalid("RANGE key attributes " + joined_names(open) +
                            " must have equality conditions specified in the query because a condition is present on "
                            "key attribute " +
                            part->name);
    if (!conjuncts.equate(*part)) open.push_back(part->name);
  }
  return {};
}

store::Answer<const KeyConjunct*> match_hash(const KeyPart& part, const Conjuncts& conjuncts) {
  const KeyConjunct* conjunct = conjuncts.about(part);
  if (conjunct == nullptr) return refuse_invalid("Query condition missed key schema element: " + part.name);
  if (conjunct->op != KeyOperator::equal) return refuse_invalid("Query key condition not supported");
  TRY_VOID(check_key_value(part, *conjunct->value, false));
  return conjunct;
}

store::Answer<const KeyConjunct*> match_range(const KeyPart& part, const Conjuncts& conjuncts) {
  const KeyConjunct* conjunct = conjuncts.about(part);
  if (conjunct == nullptr) return refuse_invalid("Query condition missed key schema element: " + part.name);
  TRY_VOID(check_key_value(part, *conjunct->value, conjunct->op == KeyOperator::begins_with));
  if (conjunct->upper != nullptr) TRY_VOID(check_key_value(part, *conjunct->upper, false));
  return conjunct;
}

store::Answer<Matched> match(const Schema& schema, const std::vector<KeyConjunct>& all) {
  const std::size_t parts = schema.hash.size() + schema.range.size();
  if (all.size() > std::max<std::size_t>(2, parts))
    return refuse_invalid("The number of query conditions (" + std::to_string(all.size()) +
                              ") exceeds the number of key attributes defined in the schema (" + std::to_string(parts) +
                              ")",
                          base::Rule::condition_count);
  const Conjuncts conjuncts(all);
  if (schema.hash.size() > 1 || schema.range.size() > 1) TRY_VOID(check_equalities(schema, conjuncts));
  Matched matched;
  for (const KeyPart* part : schema.hash) {
    TRY(const KeyConjunct* conjunct, match_hash(*part, conjuncts));
    matched.hash.push_back(conjunct);
  }
  for (std::size_t rest = all.size() - matched.hash.size(), i = 0; i < rest; ++i) {
    if (i >= schema.range.size()) return refuse_invalid("Query key condition not supported");
    TRY(const KeyConjunct* conjunct, match_range(*schema.range[i], conjuncts));
    matched.range.push_back(conjunct);
  }
  return matched;
}

// Where keys with a value begin and where they end. A table's sort key ends the stored key and is kept as it is; in an
// index it is followed by the item's own key, so its encoding marks its own end.
class RangeBuilder {
 public:
  RangeBuilder(std::string prefix, bool ends_the_key) : prefix_(std::move(prefix)), ends_the_key_(ends_the_key) {}

  KeyRange range_of(const KeyConjunct& conjunct) const {
    const std::string end = after_prefix(prefix_);
    switch (conjunct.op) {
      case KeyOperator::equal:
        return {first(*conjunct.value), past(*conjunct.value)};
      case KeyOperator::less:
        return {prefix_, first(*conjunct.value)};
      case KeyOperator::less_equal:
        return {prefix_, past(*conjunct.value)};
      case KeyOperator::greater:
        return {past(*conjunct.value), end};
      case KeyOperator::greater_equal:
        return {first(*conjunct.value), end};
      case KeyOperator::between:
        return {first(*conjunct.value), past(*conjunct.upper)};
      case KeyOperator::begins_with:
        break;
    }
    const std::string start = beginning(*conjunct.value);
    return {start, after_prefix(start)};
  }

 private:
  std::string first(const item::AttributeValue& value) const {
    std::string key = prefix_;
    if (ends_the_key_)
      item::append_ordered_last(key, value);
    else
      item::append_ordered(key, value);
    return key;
  }
  std::string past(const item::AttributeValue& value) const {
    std::string key = first(value);
    if (!ends_the_key_) return after_prefix(std::move(key));
    key.push_back('\0');
    return key;
  }
  std::string beginning(const item::AttributeValue& value) const {
    std::string key = first(value);
    constexpr std::size_t terminator_size = 2;
    if (!ends_the_key_) key.resize(key.size() - terminator_size);
    return key;
  }

  std::string prefix_;
  bool ends_the_key_;
};

}  // namespace

store::Answer<KeySelection> select_keys(const Table& table, const Index* index,
                                        const std::vector<KeyConjunct>& conjuncts) {
  TRY(const Matched matched, match(schema_of(table, index), conjuncts));
  KeySelection selection;
  if (index == nullptr) {
    selection.partition = partition_prefix(table, *matched.hash.front()->value);
  } else {
    std::vector<const item::AttributeValue*> hash;
    for (const KeyConjunct* conjunct : matched.hash) hash.push_back(conjunct->value);
    selection.partition = index_partition_prefix(*index, hash);
  }
  selection.has_range_condition = !matched.range.empty();
  std::string prefix = selection.partition;
  for (std::size_t i = 0; i + 1 < matched.range.size(); ++i) item::append_ordered(prefix, *matched.range[i]->value);
  if (matched.range.empty())
    selection.range = {prefix, after_prefix(prefix)};
  else
    selection.range = RangeBuilder(prefix, index == nullptr).range_of(*matched.range.back());
  return selection;
}

}  // namespace postino::engine
