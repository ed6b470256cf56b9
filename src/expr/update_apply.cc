// Applying an update. Everything is computed from the item as it was, then written in an order that keeps the positions
// in lists valid: first in place, then at the end of lists, and last what is removed, from the back.
#include <algorithm>
#include <optional>

#include "base/check.h"
#include "expr/expression.h"
#include "expr/path.h"
#include "expr/scope.h"
#include "expr/update_value.h"

namespace postino::expr {
namespace {

using item::AttributeValue;

struct Write {
  Path target;
  AttributeValue value;
};

class UpdateApplication {
 public:
  UpdateApplication(const UpdateTree& tree, const Scope& scope, const item::Map& before)
      : tree_(tree), scope_(scope), before_(before) {}

  base::Result<item::Map> run() {
    for (const Action& action : tree_.actions) TRY_VOID(plan(action));
    item::Map after = before_;
    for (Write& write : replacements_) write_leaf(after, write);
    std::ranges::stable_sort(appends_, {}, [&](const Write& write) { return leaf(write.target).number; });
    for (Write& write : appends_) list_of(after, write.target).push_back(std::move(write.value));
    std::ranges::sort(removals_, [&](Path a, Path b) { return compare(scope_, a, b) > 0; });
    for (const Path target : removals_) remove_leaf(after, target);
    return after;
  }

 private:
  PathElement leaf(Path path) const { return tree_.elements[path.first + path.count - 1]; }

  base::Result<void> plan(const Action& action) {
    const AttributeValue* current = find(scope_, action.target, before_);
    switch (action.section) {
      case Section::set: {
        TRY(AttributeValue value, compute(scope_, tree_.nodes[action.operand], before_));
        return plan_write(action.target, current, std::move(value));
      }
      case Section::add: {
        TRY(AttributeValue value, add(current, operand(action)));
        return plan_write(action.target, current, std::move(value));
      }
      case Section::erase: {
        TRY_VOID(check_parent(action.target));
        if (current == nullptr) return {};
        TRY(AttributeValue value, subtract(*current, operand(action)));
        if (!is_empty_set(value)) return plan_write(action.target, current, std::move(value));
        removals_.push_back(action.target);
        return {};
      }
      case Section::remove:
        TRY_VOID(check_parent(action.target));
        if (current != nullptr) removals_.push_back(action.target);
        return {};
    }
    return {};
  }

  const AttributeValue& operand(const Action& action) const { return *scope_.value_of(tree_.nodes[action.operand]); }

  base::Result<void> plan_write(Path target, const AttributeValue* current, AttributeValue value) {
    TRY_VOID(check_parent(target));
    const bool past_the_end = current == nullptr && leaf(target).is_index;
    (past_the_end ? appends_ : replacements_).push_back({target, std::move(value)});
    return {};
  }

  // What holds the leaf must be there and be of the right kind.
  base::Result<void> check_parent(Path target) const {
    if (target.count == 1) return {};
    const AttributeValue* parent = find(scope_, {target.first, target.count - 1}, before_);
    const auto needed = leaf(target).is_index ? item::Type::list : item::Type::map;
    if (parent != nullptr && parent->type() == needed) return {};
    return base::invalid("The document path provided in the update expression is invalid for update");
  }

  // The way to a leaf's parent, which check_parent has found and which no earlier write has moved.
  AttributeValue& parent_of(item::Map& after, Path target) const {
    const auto elements = tree_.elements_of(target);
    AttributeValue* value = after.find(scope_.name_of(elements[0]));
    for (const PathElement element : elements.subspan(1, elements.size() - 2)) {
      CHECK(value != nullptr);
      value = element.is_index ? &value->as<item::List>()[element.number]
                               : value->as<item::Map>().find(scope_.name_of(element));
    }
    CHECK(value != nullptr);
    return *value;
  }

  item::Map& map_of(item::Map& after, Path target) const {
    return target.count == 1 ? after : parent_of(after, target).as<item::Map>();
  }
  item::List& list_of(item::Map& after, Path target) const { return parent_of(after, target).as<item::List>(); }

  void write_leaf(item::Map& after, Write& write) const {
    const PathElement element = leaf(write.target);
    if (element.is_index) {
      list_of(after, write.target)[element.number] = std::move(write.value);
    } else {
      map_of(after, write.target).set(std::string(scope_.name_of(element)), std::move(write.value));
    }
  }

  void remove_leaf(item::Map& after, Path target) const {
    const PathElement element = leaf(target);
    if (element.is_index) {
      item::List& list = list_of(after, target);
      list.erase(list.begin() + element.number);
    } else {
      map_of(after, target).erase(scope_.name_of(element));
    }
  }

  const UpdateTree& tree_;
  const Scope& scope_;
  const item::Map& before_;
  std::vector<Write> replacements_;
  std::vector<Write> appends_;
  std::vector<Path> removals_;
};

}  // namespace

base::Result<item::Map> BoundUpdate::apply(const item::Map& before) const {
  const Scope scope{*tree_, names_, values_};
  return UpdateApplication(*tree_, scope, before).run();
}

}  // namespace postino::expr
