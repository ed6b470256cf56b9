#include "access/policy/decision.h"

#include <algorithm>

namespace postino::access {

Decision decide(const PolicyList& policies, const AccessRequest& request, const Principal& principal,
                bool full_rights) {
  Decision decision;
  if (full_rights) decision.kind = Decision::Kind::allowed;
  for (const Policy* policy : policies)
    for (const Statement& statement : policy->statements) {
      // Of statements that allow, one is enough.
      if (statement.effect == Effect::allow && decision.allowed()) continue;
      if (ask(statement, request, principal).verdict != Verdict::applies) continue;
      decision = {statement.effect == Effect::deny ? Decision::Kind::denied : Decision::Kind::allowed, policy,
                  &statement};
      if (statement.effect == Effect::deny) return decision;
    }
  return decision;
}

bool could_allow(const PolicyList& policies, Action action, std::string_view resource, const Principal& principal) {
  bool allowed = false;
  for (const Policy* policy : policies)
    for (const Statement& statement : policy->statements) {
      if (!could_apply(statement, action, resource, principal)) continue;
      if (statement.effect == Effect::deny && statement.conditions.empty()) return false;
      allowed = allowed || statement.effect == Effect::allow;
    }
  return allowed;
}

std::string denial_text(const Decision& decision, Action action, std::string_view resource, const Principal& principal,
                        bool of_session) {
  const std::string name = std::string(service_prefix).append(action.name());
  std::string text = "User: " + principal.arn() + " is not authorized to perform: " + name + " on resource: ";
  text += resource;
  if (decision.kind == Decision::Kind::denied)
    return text.append(" with an explicit deny in ")
        .append(of_session                                      ? "a session policy"
                : decision.policy->kind == PolicyKind::identity ? "an identity-based policy"
                                                                : "a resource-based policy");
  return text
      .append(of_session ? " because no session policy allows the " : " because no identity-based policy allows the ")
      .append(name)
      .append(" action");
}

std::vector<Explanation> explain(const PolicyList& policies, const AccessRequest& request, const Principal& principal) {
  std::vector<Explanation> explanations;
  for (const Policy* policy : policies)
    for (const Statement& statement : policy->statements)
      explanations.push_back({policy, &statement, ask(statement, request, principal)});
  return explanations;
}

}  // namespace postino::access
