// Takes a WHERE clause apart into alternatives that each say which partition to read, and which run of its sort keys.
#pragma once

#include <string_view>
#include <vector>

#include "partiql/interval.h"
#include "partiql/source.h"
#include "partiql/substitutions.h"

namespace postino::partiql {

inline constexpr std::size_t max_decomposed_reads = 50;

// One alternative: conditions that all have to hold. Refers to the statement and to its parameters.
struct KeyBranch {
  const item::AttributeValue* partition = nullptr;
  Interval range;
  bool impossible = false;                          // asks for two partitions at once
  bool filtered = false;                            // has conditions besides those that became partition and range
  bool excludes_range = false;                      // one of them says what the sort key must not be
  std::vector<std::string_view> filter_attributes;  // what these conditions refer to, in source order
};

class KeyBranches {
 public:
  // With `any_type`, values of another type than the schema has are taken for keys too: the store refuses them then.
  KeyBranches(const KeyAttributes& key, const Parameters& parameters, bool any_type)
      : key_(key), parameters_(parameters), any_type_(any_type) {}

  // Whether every way to meet the condition names a partition, so that nothing has to be scanned.
  bool name_partition(const Expression& condition) const;

  // Fails when there are too many, or a value has not the type of its key.
  store::Answer<std::vector<KeyBranch>> of(const Expression& condition) const;

 private:
  const KeyAttribute* key_of(const Expression& operand) const;
  bool is_hash(const KeyAttribute* key) const { return key == &key_.hash; }
  bool all_constant(const Expression& expression, std::size_t first) const;
  bool is_key_test(const Expression& leaf) const;
  bool has_key_test(const Expression& condition) const;
  const KeyAttribute* tested_key(const Expression& leaf) const;
  store::Answer<std::vector<KeyBranch>> of_key_test(const Expression& leaf) const;
  store::Answer<KeyBranch> at(const KeyAttribute& key, const Expression& value) const;
  store::Answer<const item::AttributeValue*> key_value(const KeyAttribute& key, const Expression& value) const;
  KeyBranch filtered_by(const Expression& condition) const;

  const KeyAttributes& key_;
  const Parameters& parameters_;
  bool any_type_;
};

// Names of the attributes that the condition refers to, in source order, without repetitions.
std::vector<std::string_view> attributes_of(const Expression& condition);

}  // namespace postino::partiql
