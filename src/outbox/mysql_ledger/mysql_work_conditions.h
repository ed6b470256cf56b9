// Which e-mails there is something to do with, as conditions of statements. Each says what a predicate of
// outbox/email/email.h says of an e-mail; the tests of the ledger's contract compare both for every state.
#pragma once

#include <string>

#include "outbox/email/states.h"

namespace postino::outbox {

// pipeline_of(): those that wait in this state for a worker, whether or not they are due. A statement also compares
// due_ms with something, so those that are never due are left out.
std::string waits_in(State waiting);
// is_due() of these. The parameter is the present time, in milliseconds.
inline constexpr const char* is_due_condition = "due_ms <= ?";

// is_lease_over(). The parameter is the present time, in milliseconds.
std::string is_lease_over_condition();

// A worker has it, Postino's or another program's.
std::string is_working_condition();
// There is something to do with it, and neither a worker nor a rescuer finds it: its time is before 1970, or it has
// none. Only other programs leave an e-mail so. Two conditions, so that the index serves each.
std::string is_before_all_time_condition();
std::string is_without_time_condition();

}  // namespace postino::outbox
