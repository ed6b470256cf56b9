// What accepting, claiming and moving do to an e-mail and its history: the same on every ledger.
#pragma once

#include <string>
#include <vector>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Fills in what a new e-mail does not say itself: state, version, times. All but `acceptance` and the paths.
void complete(NewEmail& email, base::TimePoint now);
// A line for each state that it has been in. It must be complete.
std::vector<HistoryEntry> lines_of(const NewEmail& email);
// For e-mail number `index` of a request: the same each time, so that a repeat of a half done request knows its own
// e-mails. Another request under the same key, after that has expired, does not.
std::string acceptance_of(const AcceptKey& key, std::size_t index);

// Into the working state, leased to the owner. `unknown_from_claim`: what is claimed for sending counts as perhaps
// sent.
Move claiming_move(const Email& email, const std::string& owner, base::TimePoint lease_end, bool unknown_from_claim);
// Sets what follows from a move: version, times, how often states were reached. The way must be a legal one.
void complete(Move& move, base::TimePoint now);
// A line for each state on the way. The move must be complete.
std::vector<HistoryEntry> lines_of(const Move& move);

HistoryEntry line_of(const Email& email, const Bounce& bounce);

}  // namespace postino::outbox
