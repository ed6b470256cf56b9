#include <algorithm>

#include "engine/rules/tag_rules.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/table_operations.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr std::string_view arn_prefix = "arn:";
constexpr std::string_view index_part = "/index/";

store::Error no_such_resource(const std::string& arn) {
  return {store::ErrorType::resource_not_found, "Requested resource not found: ResourceArn: " + arn + " not found"};
}

// Tables of other accounts are none of the caller's business, whether they exist or not.
store::Answer<void> check_account(const Core& core, std::string_view action, const std::string& arn) {
  const std::string& account = core.options.account;
  const std::string region = "arn:aws:dynamodb:" + core.options.region + ":";
  const std::size_t account_end = region.size() + account.size();
  if (!arn.starts_with(region) || arn.size() < core.table_arn("").size() || arn[account_end] != ':') return {};
  if (arn.compare(region.size(), account.size(), account) == 0) return {};
  std::string message = "User: arn:aws:iam::" + account + ":root is not authorized to perform: dynamodb:";
  message.append(action).append(" on resource: ").append(arn);
  message.append(" because no resource-based policy allows the dynamodb:").append(action).append(" action");
  return store::refuse(store::ErrorType::access_denied, std::move(message));
}

// The name in the ARN of a table of ours. Only tables have tags.
store::Answer<std::string> table_name_in(const Core& core, std::string_view action, const std::string& arn) {
  if (!arn.starts_with(arn_prefix)) return store::refuse_parameter("ARNs must start with 'arn:': " + arn);
  if (!arn.starts_with("arn:aws:dynamodb:"))
    return store::refuse_parameter("Provided Arn is not a DynamoDB resource arn: " + arn);
  if (arn.find(index_part) != std::string::npos)
    return store::refuse_parameter(
        "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " + arn);
  TRY_VOID(check_account(core, action, arn));
  const std::string ours = core.table_arn("");
  std::string name = arn.starts_with(ours) ? arn.substr(ours.size()) : std::string();
  if (!store::check_table_name(name))
    return store::refuse_invalid("Invalid TableArn: Invalid ResourceArn provided as input " + arn);
  return name;
}

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
  TRY(const std::string name, table_name_in(core_, "TagResource", arn));
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
  TRY(const std::string name, table_name_in(core_, "UntagResource", arn));
  if (keys.empty()) return store::refuse_invalid("Atleast one Tag Key needs to be provided as Input.");
  TRY_VOID(check_tag_keys(keys));
  return change_tags(core_, arn, name, [&](std::vector<store::Tag>& all) -> store::Answer<void> {
    std::erase_if(all, [&](const store::Tag& tag) { return std::ranges::find(keys, tag.key) != keys.end(); });
    return {};
  });
}

store::Answer<store::ListTagsResponse> TableOperations::list_tags(const std::string& arn) {
  TRY(const std::string name, table_name_in(core_, "ListTagsOfResource", arn));
  const TablePointer table = core_.catalog->find(name);
  if (!table) return base::propagate(no_such_resource(arn));
  return store::ListTagsResponse{table->tags, std::nullopt};
}

}  // namespace postino::engine
