// How an e-mail changes: one pure function from the e-mail and what happened to the e-mail afterwards, with its lines
// of history, or to a refusal. Whatever changes an e-mail asks this function; ledgers write what it decided.
//
// The table that it follows is in state_machine.cc and, compared by a test, in docs/states.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "outbox/email/email.h"
#include "outbox/email/event.h"
#include "outbox/email/policy.h"
#include "outbox/email/states.h"

namespace postino::outbox {

// A line that a change adds to the history.
struct NewLine {
  HistoryEntry entry;
  int occurrence = 1;  // how often this status is in the history now: a ledger may keep later ones under other names
};

struct Change {
  Email before;  // empty when the e-mail is new
  Email after;
  std::vector<NewLine> lines;          // one for each state on the way, oldest first
  std::optional<std::string> message;  // that was built: in the spool no later than the change, which names its path
  // Only while the lease and what is known of the outcome are as in `before`. They change without a new version.
  bool only_unrenewed = false;
  // An attempt to write it was made before, and it is not known what became of it.
  bool may_be_written = false;
};

// What `event` does to `email`. conflict, with words for people, when its state forbids it. `random` is any random
// number: the delay before another attempt depends on it, and nothing else.
base::Result<Change> decide(Email email, Event event, const Policy& policy, base::TimePoint now,
                            std::uint64_t random = 0);

// The same for what happens next, before the first change is written: both become one change, with the lines of both.
base::Result<Change> then(Change change, Event event, const Policy& policy, base::TimePoint now,
                          std::uint64_t random = 0);

// The table.
struct Rule {
  std::optional<State> from;  // nullopt: it is new
  std::vector<State> to;      // the same as `from` when it stays in its state
};
struct EventRules {
  std::string_view name;     // "message built"
  std::string_view actor;    // who reports it: "intake"
  std::string_view refusal;  // what the e-mail cannot be in other states: "built"
  std::vector<Rule> rules;
};
// In the order of the alternatives of Event.
std::span<const EventRules> event_rules();

// These are read from the table.
//
// The working state a waiting one is claimed into, and the waiting state a working one goes back to when its worker is
// gone. nullopt for other kinds.
std::optional<State> claimed_form(State waiting);
std::optional<State> rescued_form(State working);
// The state that says the callback was acknowledged: calling_sent -> sent_acknowledged. nullopt for other states.
std::optional<State> acknowledged_form(State calling);

// Under which state an e-mail is listed: one that a worker has stays where it waited, because it will be somewhere else
// soon.
inline State listed_state(State state) { return rescued_form(state).value_or(state); }

}  // namespace postino::outbox
