// Whether a request is allowed: what several policies say together.
#pragma once

#include <string>
#include <vector>

#include "access/policy/statement.h"

namespace postino::access {

struct Decision {
  enum class Kind {
    allowed,
    denied,      // by a statement that says so
    not_allowed  // by any statement
  };
  Kind kind = Kind::not_allowed;
  // The statement that decided, and its policy; nullptr when none did.
  const Policy* policy = nullptr;
  const Statement* statement = nullptr;

  bool allowed() const { return kind == Kind::allowed; }
};

using PolicyList = std::vector<const Policy*>;

// A Deny of any policy counts before every Allow; without an Allow, nothing is allowed. `full_rights` stands for an
// Allow of everything.
Decision decide(const PolicyList& policies, const AccessRequest& request, const Principal& principal,
                bool full_rights = false);

// Could they allow the action on the resource, whatever else a request says? False also when a statement without
// conditions denies it.
bool could_allow(const PolicyList& policies, Action action, std::string_view resource, const Principal& principal);

// What a caller is told, in AWS's words. The decision is one that does not allow the request.
// `of_session`: the policy of a session has decided.
std::string denial_text(const Decision& decision, Action action, std::string_view resource, const Principal& principal,
                        bool of_session = false);

// Why: for each statement of each policy, what it says of the request or why it says nothing.
struct Explanation {
  const Policy* policy = nullptr;
  const Statement* statement = nullptr;
  StatementVerdict verdict;
};
std::vector<Explanation> explain(const PolicyList& policies, const AccessRequest& request, const Principal& principal);

}  // namespace postino::access
