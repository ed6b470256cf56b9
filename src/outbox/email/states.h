// The states of an e-mail: their names, and what an e-mail in each of them waits for. How it goes from one to another
// is in state_machine.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace postino::outbox {

enum class State : std::uint8_t {
  accepted,
  intaking,
  ready,
  processing,
  sent,
  failed,
  invalid,
  calling_sent,
  calling_failed,
  calling_invalid,
  sent_acknowledged,
  failed_acknowledged,
  invalid_acknowledged,
  held,
  cancelled,
};
inline constexpr std::size_t state_count = 15;
constexpr std::size_t index_of(State state) { return static_cast<std::size_t>(state); }

// What an e-mail in this state waits for.
enum class StateKind : std::uint8_t {
  waiting,  // a worker claims it when it is due
  working,  // a worker has it, for as long as its lease lasts
  resting,  // nothing more happens by itself
};

std::string_view name_of(State state);  // as it is stored and shown, for example "CALLING-SENT-CALLBACK"
std::optional<State> parse_state(std::string_view name);
StateKind kind_of(State state);
const std::array<State, state_count>& all_states();

// The kinds of work. The workers of each claim e-mails in some waiting states.
enum class Pipeline : std::uint8_t { intake, send, callback };
const std::vector<State>& states_claimed_by(Pipeline pipeline);
std::string_view name_of(Pipeline pipeline);  // "intake"

// What became of an e-mail: it was sent, it failed, or it is invalid. The caller is told of it, if it wants to be.
bool is_outcome(State state);
// Can an e-mail in this state be finished? An outcome is only when no callback is due any more (is_finished()).
bool may_be_finished(State state);

}  // namespace postino::outbox
