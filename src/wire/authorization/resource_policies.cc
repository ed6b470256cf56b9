#include "wire/authorization/resource_policies.h"

#include "base/log.h"

namespace postino::wire {

namespace {

constexpr std::size_t max_read_policies = 4'096;  // more than a store has tables

std::shared_ptr<const access::Policy> read(const std::string& text) {
  auto policy = access::parse_policy(text, access::PolicyKind::resource, "the resource's policy");
  if (policy) return std::make_shared<const access::Policy>(*std::move(policy));
  base::log_error("dynamodb", "the policy of a table cannot be read and denies everything",
                  {{"cause", policy.error().message}});
  access::Statement statement;
  statement.effect = access::Effect::deny;
  statement.actions.set();
  statement.all_but_resources = true;
  statement.principal.emplace().everybody = true;
  access::Policy denial;
  denial.kind = access::PolicyKind::resource;
  denial.name = "a policy that cannot be read";
  denial.statements.push_back(std::move(statement));
  return std::make_shared<const access::Policy>(std::move(denial));
}

}  // namespace

std::shared_ptr<const access::Policy> ResourcePolicies::of(const store::ResourceSettings& settings,
                                                           const std::string& arn) {
  const store::ResourcePolicyPointer kept = settings.policy_of(arn);
  if (!kept) return nullptr;
  {
    std::lock_guard lock(mutex_);
    if (const auto known = read_.find(kept.get()); known != read_.end()) return known->second.policy;
  }
  auto policy = read(kept->text);
  std::lock_guard lock(mutex_);
  if (read_.size() >= max_read_policies) read_.clear();
  read_.insert_or_assign(kept.get(), Read{kept, policy});
  return policy;
}

}  // namespace postino::wire
