#include "access/key_policies.h"

#include <algorithm>

namespace postino::access {

KeyPolicies::KeyPolicies(Principal principal, std::vector<std::shared_ptr<const Policy>> policies)
    : principal_(std::move(principal)), policies_(std::move(policies)) {
  for (const auto& policy : policies_) {
    list_.push_back(policy.get());
    keys_ |= policy->keys();
  }
  add_principal(caller_, principal_);
}

bool KeyPolicies::ask_for(std::initializer_list<ContextKey> keys) const {
  return std::ranges::any_of(keys, [this](ContextKey key) { return keys_.test(static_cast<std::size_t>(key)); });
}

}  // namespace postino::access
