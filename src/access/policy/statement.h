// Policies as they are asked: read once, and then the same for every request. Immutable; threads may share them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/policy/actions.h"
#include "access/policy/arn.h"
#include "access/policy/condition.h"
#include "access/policy/context.h"

namespace postino::access {

enum class Effect { allow, deny };

// Whom a statement of a resource's policy is about.
struct PrincipalElement {
  bool negated = false;  // NotPrincipal
  bool everybody = false;
  std::vector<std::string> arns;  // of users, or of a whole account: arn:aws:iam::123456789012:root

  bool includes(const Principal& principal) const;
};

struct Statement {
  Effect effect = Effect::allow;
  std::string id;                  // Sid; may be empty
  std::size_t number = 1;          // its place in the document
  ActionSet actions;               // with NotAction, all that it does not name
  bool all_but_resources = false;  // NotResource
  std::vector<ArnPattern> resources;
  std::optional<PrincipalElement> principal;  // in policies of resources
  std::vector<Condition> conditions;

  // "statement 2 (ReadOwnTickets)"
  std::string name() const;
};

enum class PolicyKind { identity, resource };

struct Policy {
  PolicyKind kind = PolicyKind::identity;
  std::string name;  // what it is called in explanations, such as the name of its file
  std::vector<Statement> statements;

  ContextKeySet keys() const;  // that its conditions and variables ask for
};

// What a statement says of a request, or the first element that keeps it from saying anything.
enum class Verdict { applies, other_action, other_resource, other_principal, condition_failed };
struct StatementVerdict {
  Verdict verdict = Verdict::applies;
  const Condition* failed = nullptr;  // the condition
};
StatementVerdict ask(const Statement& statement, const AccessRequest& request, const Principal& principal);

// Could the statement apply to the action on the resource, whatever else a request says? Of one that denies: would it,
// if it has no conditions?
bool could_apply(const Statement& statement, Action action, std::string_view resource, const Principal& principal);

}  // namespace postino::access
