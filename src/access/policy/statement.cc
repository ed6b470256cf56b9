#include "access/policy/statement.h"

#include <algorithm>

namespace postino::access {

namespace {

using Match = Pattern::Match;

// `unknown` if a variable that stands for nothing might have named the resource.
Match is_about(const Statement& statement, std::string_view resource, const Context& context) {
  bool unknown = false;
  bool named = false;
  for (const ArnPattern& each : statement.resources) {
    const Match match = each.match(resource, context);
    named = named || match == Match::yes;
    unknown = unknown || match == Match::unknown;
  }
  if (named) return statement.all_but_resources ? Match::no : Match::yes;
  if (unknown) return Match::unknown;
  return statement.all_but_resources ? Match::yes : Match::no;
}

// Nothing is allowed, and all is denied, because it is not known what is excluded.
bool applies_to(const Statement& statement, std::string_view resource, const Context& context) {
  const Match match = is_about(statement, resource, context);
  if (match == Match::unknown) return statement.all_but_resources && statement.effect == Effect::deny;
  return match == Match::yes;
}

}  // namespace

bool PrincipalElement::includes(const Principal& principal) const {
  const std::string whole_account = "arn:aws:iam::" + principal.account + ":root";
  const bool named = everybody || std::ranges::any_of(arns, [&](const std::string& each) {
                       return each == whole_account || each == principal.arn();
                     });
  return named != negated;
}

std::string Statement::name() const {
  const std::string text = "statement " + std::to_string(number);
  return id.empty() ? text : text + " (" + id + ")";
}

ContextKeySet Policy::keys() const {
  ContextKeySet keys;
  for (const Statement& statement : statements) {
    for (const ArnPattern& resource : statement.resources) resource.add_keys(keys);
    for (const Condition& condition : statement.conditions) condition.add_keys(keys);
  }
  return keys;
}

StatementVerdict ask(const Statement& statement, const AccessRequest& request, const Principal& principal) {
  if (!statement.actions.test(request.action.number)) return {Verdict::other_action};
  if (!applies_to(statement, request.resource, request.context)) return {Verdict::other_resource};
  if (statement.principal && !statement.principal->includes(principal)) return {Verdict::other_principal};
  for (const Condition& condition : statement.conditions) {
    const Condition::Outcome outcome = condition.evaluate(request.context);
    const bool met = outcome == Condition::Outcome::met ||
                     (outcome == Condition::Outcome::unknown && statement.effect == Effect::deny);
    if (!met) return {Verdict::condition_failed, &condition};
  }
  return {};
}

bool could_apply(const Statement& statement, Action action, std::string_view resource, const Principal& principal) {
  if (!statement.actions.test(action.number)) return false;
  if (statement.principal && !statement.principal->includes(principal)) return false;
  Context context;
  add_principal(context, principal);
  const Match match = is_about(statement, resource, context);
  return match == Match::yes || (match == Match::unknown && statement.effect == Effect::allow);
}

}  // namespace postino::access
