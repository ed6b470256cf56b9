#include "outbox/mysql_ledger/mysql_work_conditions.h"

namespace postino::outbox {

namespace {

// The index begins with it. A callback that was given up waits for an operator.
constexpr const char* with_workers = "callback_dead = FALSE AND status";

// "'READY', 'ACCEPTED'": those of which it is true.
template <class Predicate>
std::string states_with(const Predicate& predicate) {
  std::string states;
  for (const State state : all_states())
    if (predicate(state)) states += (states.empty() ? "'" : ", '") + std::string(name_of(state)) + "'";
  return states;
}

bool is_working(State state) { return kind_of(state) == StateKind::working; }

}  // namespace

std::string waits_in(State waiting) { return std::string(with_workers) + " = '" + std::string(name_of(waiting)) + "'"; }

std::string is_lease_over_condition() {
  return std::string(with_workers) + " IN (" + states_with(is_working) + ") AND due_ms < ?";
}

std::string is_working_condition() { return "status IN (" + states_with(is_working) + ")"; }

std::string is_before_all_time_condition() {
  const auto is_found_by_time = [](State state) { return is_working(state) || kind_of(state) == StateKind::waiting; };
  return std::string(with_workers) + " IN (" + states_with(is_found_by_time) + ") AND due_ms < 0";
}

std::string is_without_time_condition() {
  // An outcome without a time is finished.
  const auto is_unfinished = [](State state) {
    return is_working(state) || (kind_of(state) == StateKind::waiting && !is_outcome(state));
  };
  return std::string(with_workers) + " IN (" + states_with(is_unfinished) + ") AND due_ms IS NULL";
}

}  // namespace postino::outbox
