// What a bound expression tells about itself, without an item.
#include <algorithm>

#include "expr/expression.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "expr/scope.h"
#include "item/size.h"

namespace postino::expr {
namespace {

// In source order: a path's elements are added as they are read.
std::vector<Path> paths_of(const SyntaxTree& tree) {
  std::vector<Path> paths;
  for (const Node& node : tree.nodes)
    if (node.kind == NodeKind::path) paths.push_back(node.path());
  return paths;
}

std::vector<Path> targets_of(const UpdateTree& tree) {
  std::vector<Path> paths;
  paths.reserve(tree.actions.size());
  for (const Action& action : tree.actions) paths.push_back(action.target);
  return paths;
}

std::vector<Path> nested(std::vector<Path> paths) {
  std::erase_if(paths, [](const Path& path) { return path.count == 1; });
  return paths;
}

// The literals below a node.
std::size_t literal_size(const Scope& scope, const Node& node) {
  if (node.kind == NodeKind::value) return item::size_of(*scope.value_of(node));
  std::size_t size = 0;
  for (std::size_t i = 0; i < scope.tree.child_count(node); ++i) size += literal_size(scope, scope.tree.child(node, i));
  return size;
}

}  // namespace

std::vector<std::string_view> BoundCondition::attributes() const {
  return top_level_names(Scope{*tree_, names_, values_}, paths_of(*tree_));
}

std::vector<std::string_view> BoundCondition::nested_attributes() const {
  return top_level_names(Scope{*tree_, names_, values_}, nested(paths_of(*tree_)));
}

std::vector<std::string_view> BoundProjection::nested_attributes() const {
  return top_level_names(Scope{*tree_, names_, {}}, nested(tree_->paths));
}

std::vector<BoundUpdate::Target> BoundUpdate::targets() const {
  const Scope scope{*tree_, names_, values_};
  std::vector<Target> targets;
  for (const Action& action : tree_->actions) {
    const std::string_view name = scope.top_level_name(action.target);
    if (std::ranges::find(targets, name, &Target::name) != targets.end()) continue;
    const bool literal = action.section == Section::set && tree_->nodes[action.operand].kind == NodeKind::value;
    targets.push_back({name, action.target.count > 1, !literal});  // disjoint targets of one attribute are all nested
  }
  return targets;
}

bool BoundUpdate::creates() const {
  return std::ranges::any_of(tree_->actions, [](const Action& action) {
    return action.section == Section::set || action.section == Section::add;
  });
}

bool BoundUpdate::is_repeatable() const {
  return std::ranges::all_of(tree_->actions, [this](const Action& action) {
    if (std::ranges::any_of(tree_->elements_of(action.target), &PathElement::is_index)) return false;
    if (action.section == Section::remove || action.section == Section::erase) return true;
    const Node& operand = tree_->nodes[action.operand];
    if (operand.kind != NodeKind::value) return false;
    return action.section == Section::set || values_[operand.first]->type() != item::Type::number;
  });
}

item::Map BoundUpdate::touched(const item::Map& item) const {
  const Scope scope{*tree_, names_, values_};
  return cut(scope, sorted(scope, targets_of(*tree_)), item);
}

std::size_t BoundUpdate::written_size() const {
  const Scope scope{*tree_, names_, values_};
  std::size_t size = 3;
  for (const Action& action : tree_->actions) {
    const auto elements = tree_->elements_of(action.target);
    for (const PathElement element : elements)
      if (!element.is_index) size += scope.name_of(element).size();
    if (action.section == Section::remove || action.section == Section::erase) {
      size += 2;
    } else {
      size += literal_size(scope, tree_->nodes[action.operand]) + (elements.back().is_index ? 20 : 19);
    }
  }
  return size;
}

}  // namespace postino::expr
