#include "outbox/email/states.h"

#include <algorithm>

#include "base/check.h"

namespace postino::outbox {

namespace {

struct StateInfo {
  State state;
  std::string_view name;
  StateKind kind;
};

// One row a state, in the order of the enumeration.
const std::array<StateInfo, state_count>& infos() {
  using enum State;
  using enum StateKind;
  static const std::array<StateInfo, state_count> table = {{
      {accepted, "ACCEPTED", waiting},
      {intaking, "INTAKING", working},
      {ready, "READY", waiting},
      {processing, "PROCESSING", working},
      {sent, "SENT", waiting},
      {failed, "FAILED", waiting},
      {invalid, "INVALID", waiting},
      {calling_sent, "CALLING-SENT-CALLBACK", working},
      {calling_failed, "CALLING-FAILED-CALLBACK", working},
      {calling_invalid, "CALLING-INVALID-CALLBACK", working},
      {sent_acknowledged, "SENT-ACKNOWLEDGED", resting},
      {failed_acknowledged, "FAILED-ACKNOWLEDGED", resting},
      {invalid_acknowledged, "INVALID-ACKNOWLEDGED", resting},
      {held, "HELD", resting},
      {cancelled, "CANCELLED", resting},
  }};
  return table;
}

const StateInfo& info_of(State state) {
  const StateInfo& info = infos()[index_of(state)];
  CHECK(info.state == state);
  return info;
}

}  // namespace

std::string_view name_of(State state) { return info_of(state).name; }

std::optional<State> parse_state(std::string_view name) {
  for (const StateInfo& info : infos())
    if (info.name == name) return info.state;
  return std::nullopt;
}

StateKind kind_of(State state) { return info_of(state).kind; }

const std::array<State, state_count>& all_states() {
  static const std::array<State, state_count> states = [] {
    std::array<State, state_count> all{};
    std::ranges::transform(infos(), all.begin(), &StateInfo::state);
    return all;
  }();
  return states;
}

const std::vector<State>& states_claimed_by(Pipeline pipeline) {
  using enum State;
  static const std::vector<State> intake = {accepted};
  static const std::vector<State> send = {ready};
  static const std::vector<State> callback = {sent, failed, invalid};
  if (pipeline == Pipeline::intake) return intake;
  return pipeline == Pipeline::send ? send : callback;
}

std::string_view name_of(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return "intake";
  return pipeline == Pipeline::send ? "send" : "callback";
}

bool is_outcome(State state) {
  const std::vector<State>& outcomes = states_claimed_by(Pipeline::callback);
  return std::ranges::find(outcomes, state) != outcomes.end();
}

bool may_be_finished(State state) {
  return is_outcome(state) || (kind_of(state) == StateKind::resting && state != State::held);
}

}  // namespace postino::outbox
