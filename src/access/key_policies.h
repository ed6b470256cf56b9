// The policies of one access key, ready to be asked: what is the same for each of its calls is worked out once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "access/policies.h"

namespace postino::access {

// Immutable; threads may share it.
class KeyPolicies {
 public:
  // Without any policy, everything is denied.
  // `session` is what a temporary key was made with: only what it allows as well is allowed.
  KeyPolicies(Principal principal, std::vector<std::shared_ptr<const Policy>> policies,
              std::shared_ptr<const Policy> session = nullptr);
  KeyPolicies(const KeyPolicies&) = delete;
  KeyPolicies& operator=(const KeyPolicies&) = delete;

  const Principal& principal() const { return principal_; }
  const PolicyList& policies() const { return list_; }
  // What is known of the caller: for a request's context to stand in front of.
  const Context& caller() const { return caller_; }
  // Does any policy ask for one of these? What none asks for need not be known.
  bool ask_for(std::initializer_list<ContextKey> keys) const;

  // What the policies of the key say, without that of a session.
  Decision decide(const AccessRequest& request) const { return access::decide(list_, request, principal_); }
  // What the policy of a session says; nullopt: there is none.
  std::optional<Decision> decide_session(const AccessRequest& request) const;
  bool could_allow(Action action, std::string_view resource) const;

  // The same with a session.
  std::shared_ptr<const KeyPolicies> with_session(std::shared_ptr<const Policy> session) const;

 private:
  Principal principal_;
  std::vector<std::shared_ptr<const Policy>> policies_;
  PolicyList list_;
  std::shared_ptr<const Policy> session_;
  PolicyList session_list_;
  Context caller_;
  ContextKeySet keys_;
};

}  // namespace postino::access
