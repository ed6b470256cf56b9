// What a statement reads from or writes to: a table or one of its indexes, as far as planning needs to know it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "partiql/syntax/syntax_tree.h"
#include "store/store.h"

namespace postino::partiql {

struct KeyAttribute {
  std::string name;
  item::Type type = item::Type::string;
};

struct KeyAttributes {
  KeyAttribute hash;
  std::optional<KeyAttribute> range;

  std::vector<const KeyAttribute*> all() const;
};

struct Source {
  std::string table_name;
  std::string shown_name;  // as the statement has it
  std::optional<std::string> index_name;
  bool global = false;  // a global index
  KeyAttributes key;    // of the index, if it is one
  bool carries_all = true;
  std::vector<std::string> carried;  // sorted; the attributes of an index that does not have all

  bool carries(std::string_view attribute) const;
};

// Fails with ResourceNotFoundException when there is no such table. The index of the reference is not looked at.
store::Answer<store::TableDescription> find_table(store::Store& store, const TableReference& reference);

Source table_source(const store::TableDescription& table, const TableReference& reference);

// The index that the reference names. Fails when there is none, or when PartiQL cannot read it.
store::Answer<Source> index_source(const store::TableDescription& table, const TableReference& reference);

// The table's own name, where an ARN stands for it.
std::string table_name_of(const TableReference& reference);

}  // namespace postino::partiql
