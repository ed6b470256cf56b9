#include "outbox/email/states.h"

#include <algorithm>

#include "base/check.h"

namespace postino::outbox {

namespace {

using enum State;
using enum StateKind;

struct Rule {
  State state;
  std::string_view name;
  StateKind kind;
  std::vector<State> successors;
};

// One row a state, in the order of the enumeration.
const std::array<Rule, state_count>& rules() {
  static const std::array<Rule, state_count> table = {{
      {accepted, "ACCEPTED", waiting, {intaking, held, cancelled}},
      {intaking, "INTAKING", working, {ready, invalid, accepted}},
      {ready, "READY", waiting, {processing, held, cancelled}},
      {processing, "PROCESSING", working, {sent, failed, ready, held}},
      {sent, "SENT", waiting, {calling_sent}},
      {failed, "FAILED", waiting, {calling_failed, ready}},
      {invalid, "INVALID", waiting, {calling_invalid, accepted}},
      {calling_sent, "CALLING-SENT-CALLBACK", working, {sent_acknowledged, sent}},
      {calling_failed, "CALLING-FAILED-CALLBACK", working, {failed_acknowledged, failed}},
      {calling_invalid, "CALLING-INVALID-CALLBACK", working, {invalid_acknowledged, invalid}},
      {sent_acknowledged, "SENT-ACKNOWLEDGED", resting, {}},
      {failed_acknowledged, "FAILED-ACKNOWLEDGED", resting, {ready}},
      {invalid_acknowledged, "INVALID-ACKNOWLEDGED", resting, {accepted}},
      {held, "HELD", resting, {accepted, ready, cancelled}},
      {cancelled, "CANCELLED", resting, {}},
  }};
  return table;
}

const Rule& rule_of(State state) {
  const Rule& rule = rules()[static_cast<std::size_t>(state)];
  CHECK(rule.state == state);
  return rule;
}

// The ways between waiting and working, and on to the acknowledgement.
struct ClaimedForm {
  State waiting;
  State working;
  std::optional<State> acknowledged;
};
constexpr std::array<ClaimedForm, 5> claims = {{
    {accepted, intaking, std::nullopt},
    {ready, processing, std::nullopt},
    {sent, calling_sent, sent_acknowledged},
    {failed, calling_failed, failed_acknowledged},
    {invalid, calling_invalid, invalid_acknowledged},
}};

}  // namespace

std::string_view name_of(State state) { return rule_of(state).name; }

std::optional<State> parse_state(std::string_view name) {
  for (const Rule& rule : rules())
    if (rule.name == name) return rule.state;
  return std::nullopt;
}

StateKind kind_of(State state) { return rule_of(state).kind; }

const std::array<State, state_count>& all_states() {
  static const std::array<State, state_count> states = [] {
    std::array<State, state_count> all{};
    std::ranges::transform(rules(), all.begin(), &Rule::state);
    return all;
  }();
  return states;
}

bool may_follow(State from, State to) {
  const std::vector<State>& successors = rule_of(from).successors;
  return std::ranges::find(successors, to) != successors.end();
}

const std::vector<State>& states_claimed_by(Pipeline pipeline) {
  static const std::vector<State> intake = {accepted};
  static const std::vector<State> send = {ready};
  static const std::vector<State> callback = {sent, failed, invalid};
  if (pipeline == Pipeline::intake) return intake;
  return pipeline == Pipeline::send ? send : callback;
}

std::optional<State> claimed_form(State state) {
  for (const ClaimedForm& claim : claims)
    if (claim.waiting == state) return claim.working;
  return std::nullopt;
}

std::optional<State> rescued_form(State state) {
  for (const ClaimedForm& claim : claims)
    if (claim.working == state) return claim.waiting;
  return std::nullopt;
}

std::optional<State> requeued_form(State state) {
  if (state == failed || state == failed_acknowledged) return ready;
  if (state == invalid || state == invalid_acknowledged) return accepted;
  return std::nullopt;
}

std::optional<State> acknowledged_form(State state) {
  for (const ClaimedForm& claim : claims)
    if (claim.working == state) return claim.acknowledged;
  return std::nullopt;
}

}  // namespace postino::outbox
