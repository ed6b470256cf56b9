#include "outbox/mysql_ledger/mysql_work_conditions.h"

namespace postino::outbox {

namespace {

// The index begins with it. A callback that was given up waits for an operator.
constexpr const char* with_workers = "callback_dead = FALSE AND status";

std::string quoted(State state) { return "'" + std::string(name_of(state)) + "'"; }

}  // namespace

std::string waits_in(State waiting) { return std::string(with_workers) + " = " + quoted(waiting); }

std::string is_lease_over_condition() {
  std::string states;
  for (const State state : all_states())
    if (kind_of(state) == StateKind::working) states += (states.empty() ? "" : ", ") + quoted(state);
  return std::string(with_workers) + " IN (" + states + ") AND due_ms < ?";
}

}  // namespace postino::outbox
