#include "app/settings/policy_settings.h"

#include <algorithm>

#include "app/console/input_file.h"
#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

base::Result<void> take_policy(Settings& settings, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return base::invalid("must be ID=FILE, with the ID of an access key");
  PolicySettings::KeyPolicy taken{text.substr(0, equals), text.substr(equals + 1), nullptr};
  TRY(access::Policy policy, read_policy(taken.source, access::PolicyKind::identity));
  taken.policy = std::make_shared<const access::Policy>(std::move(policy));
  settings.access.policies.policies.push_back(std::move(taken));
  return {};
}

base::Result<void> take_principal(Settings& settings, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos)
    return base::invalid("must be ID:KEY=VALUE, with the ID of an access key");
  TRY(auto value, parse_caller_value(std::string_view(text).substr(colon + 1)));
  settings.access.policies.principals.push_back(
      {text.substr(0, colon), std::move(value.first), std::move(value.second)});
  return {};
}

std::string show_policies(const Settings& settings) {
  std::string list = "[";
  for (const auto& each : settings.access.policies.policies)
    list.append(list.size() > 1 ? ", " : "").append(quoted(each.key_id + "=" + each.source));
  return list + "]";
}

std::string show_principals(const Settings& settings) {
  std::string list = "[";
  for (const auto& each : settings.access.policies.principals)
    list.append(list.size() > 1 ? ", " : "").append(quoted(each.key_id + ":" + each.key.text() + "=" + each.value));
  return list + "]";
}

}  // namespace

base::Result<access::Policy> read_policy(const std::string& source, access::PolicyKind kind) {
  std::string text = source;
  std::string name = "policy";
  if (!source.starts_with('{')) {
    TRY(text, read_input(source, access::max_document_bytes));
    name = source;
  }
  auto policy = access::parse_policy(text, kind, name);
  if (!policy) return base::invalid(name + ": " + policy.error().message);
  return policy;
}

base::Result<std::pair<access::KeyReference, std::string>> parse_caller_value(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return base::invalid("must have KEY=VALUE");
  const std::string name(text.substr(0, equals));
  auto key = access::KeyReference::parse(name);
  if (!key) return base::invalid("\"" + name + "\" " + key.error().message);
  if (!access::is_of_caller(key->key))
    return base::invalid("\"" + name + "\" says nothing of a caller: aws:PrincipalTag/NAME does");
  return std::pair(*std::move(key), std::string(text.substr(equals + 1)));
}

access::Principal principal_of(const std::string& account, const std::string& key_id, const PolicySettings& settings) {
  access::Principal principal{account, key_id, key_id};
  for (const auto& each : settings.principals) {
    if (each.key_id != key_id) continue;
    if (each.key.key == access::ContextKey::user_name) principal.name = each.value;
    if (each.key.key == access::ContextKey::user_id) principal.id = each.value;
    if (!each.key.name.empty()) principal.values.emplace_back(each.key, each.value);
  }
  return principal;
}

std::vector<wire::AccessKey> with_policies(std::vector<wire::AccessKey> keys, const std::string& account,
                                           const PolicySettings& settings) {
  for (wire::AccessKey& key : keys) {
    std::vector<std::shared_ptr<const access::Policy>> policies;
    for (const auto& each : settings.policies)
      if (each.key_id == key.id) policies.push_back(each.policy);
    if (policies.empty()) continue;
    key.policies =
        std::make_shared<const access::KeyPolicies>(principal_of(account, key.id, settings), std::move(policies));
  }
  return keys;
}

std::vector<Setting> policy_settings() {
  using enum SettingKind;
  return {
      {"dynamodb.policies", "--policy", "POSTINO_POLICIES", "ID=FILE",
       "policy in IAM's JSON: what the access key of this ID may do, and nothing else. Without one, a key may do "
       "everything. Repeat the flag, or separate policies by commas in the environment",
       list, take_policy, show_policies, [](Settings& all) { all.access.policies.policies.clear(); }},
      {"dynamodb.principals", "--principal", "POSTINO_PRINCIPALS", "ID:KEY=VALUE",
       "what policies know of the holder of an access key: aws:PrincipalTag/NAME, aws:username, aws:userid, or an "
       "identity such as cognito-identity.amazonaws.com:sub. Repeat the flag, or separate values by commas in the "
       "environment",
       list, take_principal, show_principals, [](Settings& all) { all.access.policies.principals.clear(); }},
  };
}

base::Result<void> check_policies(const Settings& settings) {
  const PolicySettings& policies = settings.access.policies;
  SettingErrors errors;
  const auto check_key = [&](const char* flag, const std::string& id) {
    if (std::ranges::find(settings.access_keys, id, &wire::AccessKey::id) == settings.access_keys.end())
      errors.add(std::string(flag) + ": there is no --access-key with the ID " + id);
  };
  for (const auto& each : policies.policies) check_key("--policy", each.key_id);
  for (const auto& each : policies.principals) check_key("--principal", each.key_id);
  for (const wire::AccessKey& key : settings.access_keys)
    if (std::ranges::count(policies.policies, key.id, &PolicySettings::KeyPolicy::key_id) >
        static_cast<std::ptrdiff_t>(max_policies_of_key))
      errors.add("--policy: the access key " + key.id + " has more than 10 policies");
  return errors.result();
}

}  // namespace postino::app
