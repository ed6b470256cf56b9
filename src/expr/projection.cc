#include "expr/projection.h"

#include <optional>

#include "expr/expression.h"
#include "expr/path.h"

namespace postino::expr {
namespace {

using item::AttributeValue;

class Cutter {
 public:
  explicit Cutter(const Scope& scope) : scope_(scope) {}

  item::Map cut_map(const item::Map& map, std::span<const Path> paths, std::size_t depth) const {
    item::Map result;
    while (!paths.empty()) {
      const auto group = take_group(paths, depth);
      const std::string_view name = scope_.name_of(element(group.front(), depth));
      const AttributeValue* value = map.find(name);
      if (value == nullptr) continue;
      if (auto kept = cut_value(*value, group, depth + 1)) result.append(std::string(name), *std::move(kept));
    }
    return result;
  }

 private:
  PathElement element(Path path, std::size_t depth) const { return scope_.tree.elements[path.first + depth]; }

  bool same_element(PathElement a, PathElement b) const {
    return a.is_index ? a.number == b.number : scope_.name_of(a) == scope_.name_of(b);
  }

  // The paths that go the same way from here, removed from `paths`.
  std::span<const Path> take_group(std::span<const Path>& paths, std::size_t depth) const {
    std::size_t size = 1;
    while (size < paths.size() && same_element(element(paths[0], depth), element(paths[size], depth))) ++size;
    const auto group = paths.first(size);
    paths = paths.subspan(size);
    return group;
  }

  std::optional<AttributeValue> cut_value(const AttributeValue& value, std::span<const Path> paths,
                                          std::size_t depth) const {
    if (paths.front().count == depth) return value;
    if (element(paths.front(), depth).is_index) {
      const auto* list = value.get_if<item::List>();
      if (list == nullptr) return std::nullopt;
      item::List kept = cut_list(*list, paths, depth);
      if (kept.empty()) return std::nullopt;
      return kept;
    }
    const auto* map = value.get_if<item::Map>();
    if (map == nullptr) return std::nullopt;
    item::Map kept = cut_map(*map, paths, depth);
    if (kept.empty()) return std::nullopt;
    return kept;
  }

  item::List cut_list(const item::List& list, std::span<const Path> paths, std::size_t depth) const {
    item::List result;
    while (!paths.empty()) {
      const auto group = take_group(paths, depth);
      const std::uint32_t index = element(group.front(), depth).number;
      if (index >= list.size()) break;  // and so are all that follow
      if (auto kept = cut_value(list[index], group, depth + 1)) result.push_back(*std::move(kept));
    }
    return result;
  }

  const Scope& scope_;
};

}  // namespace

item::Map cut(const Scope& scope, std::span<const Path> paths, const item::Map& item) {
  return Cutter(scope).cut_map(item, paths, 0);
}

item::Map BoundProjection::project(const item::Map& item) const {
  return cut(Scope{*tree_, names_, {}}, sorted_paths_, item);
}

std::vector<std::string_view> BoundProjection::attributes() const {
  return top_level_names(Scope{*tree_, names_, {}}, tree_->paths);
}

}  // namespace postino::expr
