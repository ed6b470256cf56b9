#include <algorithm>

#include "engine/rules/tag_rules.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/resource_arn.h"
#include "engine/tables/table_operations.h"

namespace postino::engine {

namespace {

// Replaces the table's tags by what `change` makes of them, and commits.
template <class Change>
store::Answer<void> change_tags(Core& core, const std::string& arn, const std::string& name, Change change) {
  std::lock_guard control(core.control_mutex);
  const TablePointer before = core.catalog->find(name);
  if (!before) return base::propagate(no_such_resource(arn));
  TRY_VOID(check_may_change_settings(*before));
  Table after = *before;
  TRY_VOID(change(after.tags));
  return core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    put_table(state, entry, after);
    return {};
  });
}

}  // namespace

store::Answer<void> TableOperations::tag(const std::string& arn, const std::vector<store::Tag>& tags) {
  TRY(const std::string name, table_named_by(core_, "TagResource", arn));
  if (tags.empty()) return store::refuse_invalid("Atleast one Tag needs to be provided as Input.");
  TRY_VOID(check_tags(tags));
  return change_tags(core_, arn, name, [&](std::vector<store::Tag>& all) {
    for (const store::Tag& tag : tags) {
      const auto found = std::ranges::find(all, tag.key, &store::Tag::key);
      if (found == all.end())
        all.push_back(tag);
      else
        found->value = tag.value;
    }
    return check_tag_count(all.size());
  });
}

store::Answer<void> TableOperations::untag(const std::string& arn, const std::vector<std::string>& keys) {
  TRY(const std::string name, table_named_by(core_, "UntagResource", arn));
  if (keys.empty()) return store::refuse_invalid("Atleast one Tag Key needs to be provided as Input.");
  TRY_VOID(check_tag_keys(keys));
  return change_tags(core_, arn, name, [&](std::vector<store::Tag>& all) -> store::Answer<void> {
    std::erase_if(all, [&](const store::Tag& tag) { return std::ranges::find(keys, tag.key) != keys.end(); });
    return {};
  });
}

store::Answer<store::ListTagsResponse> TableOperations::list_tags(const std::string& arn) {
  TRY(const std::string name, table_named_by(core_, "ListTagsOfResource", arn));
  const TablePointer table = core_.catalog->find(name);
  if (!table) return base::propagate(no_such_resource(arn));
  return store::ListTagsResponse{table->tags, std::nullopt};
}

}  // namespace postino::engine
