#include "access/policy/context.h"

#include <algorithm>

namespace postino::access {

void Context::add(const KeyReference& key, std::string value) {
  if (key.name.empty()) return add(key.key, std::move(value));
  const auto found = std::ranges::find(named_, key, [](const auto& each) -> const KeyReference& { return each.first; });
  auto& values = found == named_.end() ? named_.emplace_back(key, std::vector<std::string>()).second : found->second;
  values.push_back(std::move(value));
}

std::span<const std::string> Context::values(const KeyReference& key) const {
  if (key.name.empty()) {
    const auto& values = values_[static_cast<std::size_t>(key.key)];
    if (!values.empty()) return values;
  } else {
    const auto found =
        std::ranges::find(named_, key, [](const auto& each) -> const KeyReference& { return each.first; });
    if (found != named_.end()) return found->second;
  }
  if (behind_ == nullptr) return {};
  return behind_->values(key);
}

void add_principal(Context& context, const Principal& principal) {
  context.add(ContextKey::principal_arn, principal.arn());
  context.add(ContextKey::principal_account, principal.account);
  context.add(ContextKey::principal_type, "User");
  context.add(ContextKey::user_id, principal.id);
  context.add(ContextKey::user_name, principal.name);
  for (const auto& [key, value] : principal.values) {
    if (key.name.empty()) context.clear(key.key);
    context.add(key, value);
  }
}

}  // namespace postino::access
