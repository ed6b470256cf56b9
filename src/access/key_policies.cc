#include "access/key_policies.h"

#include <algorithm>

namespace postino::access {

KeyPolicies::KeyPolicies(Principal principal, std::vector<std::shared_ptr<const Policy>> policies,
                         std::shared_ptr<const Policy> session)
    : principal_(std::move(principal)), policies_(std::move(policies)), session_(std::move(session)) {
  for (const auto& policy : policies_) {
    list_.push_back(policy.get());
    keys_ |= policy->keys();
  }
  if (session_) {
    session_list_.push_back(session_.get());
    keys_ |= session_->keys();
  }
  add_principal(caller_, principal_);
}

std::optional<Decision> KeyPolicies::decide_session(const AccessRequest& request) const {
  if (!session_) return std::nullopt;
  return access::decide(session_list_, request, principal_);
}

bool KeyPolicies::could_allow(Action action, std::string_view resource) const {
  return access::could_allow(list_, action, resource, principal_) &&
         (!session_ || access::could_allow(session_list_, action, resource, principal_));
}

std::shared_ptr<const KeyPolicies> KeyPolicies::with_session(std::shared_ptr<const Policy> session) const {
  return std::make_shared<const KeyPolicies>(principal_, policies_, std::move(session));
}

bool KeyPolicies::ask_for(std::initializer_list<ContextKey> keys) const {
  return std::ranges::any_of(keys, [this](ContextKey key) { return keys_.test(static_cast<std::size_t>(key)); });
}

}  // namespace postino::access
