// What tests read from the table of states and events.
#pragma once

#include <algorithm>

#include "outbox/email/state_machine.h"

namespace postino::outbox {

// Is there an event that takes an e-mail from one state to the other?
inline bool may_follow(State from, State to) {
  return from != to && std::ranges::any_of(event_rules(), [&](const EventRules& event) {
           return std::ranges::any_of(event.rules, [&](const Rule& rule) {
             return rule.from == from && std::ranges::find(rule.to, to) != rule.to.end();
           });
         });
}

}  // namespace postino::outbox
