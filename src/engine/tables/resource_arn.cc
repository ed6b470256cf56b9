#include "engine/tables/resource_arn.h"

#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr std::string_view arn_prefix = "arn:";
constexpr std::string_view index_part = "/index/";

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

}  // namespace

store::Error no_such_resource(const std::string& arn) {
  return {store::ErrorType::resource_not_found, "Requested resource not found: ResourceArn: " + arn + " not found"};
}

store::Answer<std::string> table_named_by(const Core& core, std::string_view action, const std::string& arn) {
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

}  // namespace postino::engine
