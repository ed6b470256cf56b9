#include "partiql/syntax/syntax_tree.h"

#include <array>

namespace postino::partiql {

std::string_view symbol_of(Operation operation) {
  static constexpr std::array<std::string_view, 13> symbols = {"=", "<>", "<", "<=", ">",  ">=",  "+",
                                                               "-", "*",  "/", "%",  "||", "LIKE"};
  static_assert(symbols.size() == static_cast<std::size_t>(Operation::like) + 1);
  return symbols[static_cast<std::size_t>(operation)];
}

std::string to_string(Returning returning) {
  return std::string("RETURNING ") + (returning.modified_only ? "MODIFIED " : "ALL ") +
         (returning.new_image ? "NEW *" : "OLD *");
}

const TableReference& table_of(const StatementTree& statement) {
  struct Visitor {
    const TableReference& operator()(const Select& select) const { return select.from; }
    const TableReference& operator()(const Insert& insert) const { return insert.into; }
    const TableReference& operator()(const Update& update) const { return update.table; }
    const TableReference& operator()(const Delete& remove) const { return remove.from; }
    const TableReference& operator()(const Exists& exists) const { return exists.select.from; }
  };
  return std::visit(Visitor{}, statement.body);
}

}  // namespace postino::partiql
