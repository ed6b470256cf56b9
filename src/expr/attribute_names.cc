#include "expr/attribute_names.h"

namespace postino::expr {

namespace {

void add_path(const SyntaxTree& tree, Path path, const Placeholders& placeholders, AttributeNames& names) {
  const NameSlot& slot = tree.names[tree.elements[path.first].number];
  if (!slot.placeholder) {
    names.insert(slot.text);
    return;
  }
  if (!placeholders.names) return;
  const auto found = placeholders.names->find(slot.text);
  if (found != placeholders.names->end()) names.insert(found->second);
}

// Every path of a condition, and every operand of an update, is a node.
void add_nodes(const SyntaxTree& tree, const Placeholders& placeholders, AttributeNames& names) {
  for (const Node& node : tree.nodes)
    if (node.kind == NodeKind::path) add_path(tree, node.path(), placeholders, names);
}

}  // namespace

base::Result<void> add_attribute_names(std::string_view condition, Kind kind, const Placeholders& placeholders,
                                       AttributeNames& names) {
  TRY(const Condition tree, cached_condition(condition, kind));
  add_nodes(*tree, placeholders, names);
  return {};
}

base::Result<void> add_attribute_names_of_update(std::string_view update, const Placeholders& placeholders,
                                                 AttributeNames& names) {
  TRY(const Update tree, cached_update(update));
  add_nodes(*tree, placeholders, names);
  for (const Action& action : tree->actions) add_path(*tree, action.target, placeholders, names);
  return {};
}

base::Result<void> add_attribute_names_of_projection(std::string_view projection, const Placeholders& placeholders,
                                                     AttributeNames& names) {
  TRY(const Projection tree, cached_projection(projection));
  for (const Path path : tree->paths) add_path(*tree, path, placeholders, names);
  return {};
}

}  // namespace postino::expr
