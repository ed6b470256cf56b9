#include "expr/path.h"

#include <algorithm>

#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

enum class Relation { none, overlap, conflict };

Relation relate(const Scope& scope, Path a, Path b) {
  const auto left = scope.tree.elements_of(a);
  const auto right = scope.tree.elements_of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].is_index != right[i].is_index) return Relation::conflict;
    const bool same =
        left[i].is_index ? left[i].number == right[i].number : scope.name_of(left[i]) == scope.name_of(right[i]);
    if (!same) return Relation::none;
  }
  return Relation::overlap;
}

base::Result<void> refuse_first(const Scope& scope, const std::vector<Path>& paths, Relation relation,
                                std::string_view expression) {
  for (std::size_t second = 1; second < paths.size(); ++second)
    for (std::size_t first = 0; first < second; ++first) {
      if (relate(scope, paths[first], paths[second]) != relation) continue;
      return refuse(expression, std::string("Two document paths ") +
                                    (relation == Relation::overlap ? "overlap" : "conflict") +
                                    " with each other; must remove or rewrite one of these paths; path one: " +
                                    describe(scope, paths[first]) + ", path two: " + describe(scope, paths[second]));
    }
  return {};
}

}  // namespace

const item::AttributeValue* find(const Scope& scope, Path path, const item::Map& item) {
  const auto elements = scope.tree.elements_of(path);
  const item::AttributeValue* value = item.find(scope.name_of(elements.front()));
  for (const PathElement element : elements.subspan(1)) {
    if (value == nullptr) return nullptr;
    if (element.is_index) {
      const auto* list = value->get_if<item::List>();
      value = list != nullptr && element.number < list->size() ? &(*list)[element.number] : nullptr;
    } else {
      const auto* map = value->get_if<item::Map>();
      value = map != nullptr ? map->find(scope.name_of(element)) : nullptr;
    }
  }
  return value;
}

std::string describe(const Scope& scope, Path path) {
  std::string text;
  for (const PathElement element : scope.tree.elements_of(path)) {
    text += text.empty() ? "[" : ", ";
    if (element.is_index) {
      text.append("[").append(std::to_string(element.number)).append("]");
    } else {
      text += scope.name_of(element);
    }
  }
  return text + "]";
}

std::strong_ordering compare(const Scope& scope, Path a, Path b) {
  const auto left = scope.tree.elements_of(a);
  const auto right = scope.tree.elements_of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    auto order = left[i].is_index <=> right[i].is_index;
    if (order == 0)
      order =
          left[i].is_index ? left[i].number <=> right[i].number : scope.name_of(left[i]) <=> scope.name_of(right[i]);
    if (order != 0) return order;
  }
  return left.size() <=> right.size();
}

std::vector<Path> sorted(const Scope& scope, std::vector<Path> paths) {
  std::ranges::sort(paths, [&](Path a, Path b) { return compare(scope, a, b) < 0; });
  return paths;
}

base::Result<void> check_disjoint(const Scope& scope, const std::vector<Path>& paths, std::string_view expression) {
  // In sorted order related paths are neighbours, so comparing all with all is left to the few expressions that fail.
  const std::vector<Path> in_order = sorted(scope, paths);
  const auto related = [&](Path a, Path b) { return relate(scope, a, b) != Relation::none; };
  if (std::ranges::adjacent_find(in_order, related) == in_order.end()) return {};
  TRY_VOID(refuse_first(scope, paths, Relation::overlap, expression));
  return refuse_first(scope, paths, Relation::conflict, expression);
}

std::vector<std::string_view> top_level_names(const Scope& scope, std::span<const Path> paths) {
  std::vector<std::string_view> names;
  for (const Path path : paths) {
    const std::string_view name = scope.top_level_name(path);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace postino::expr
