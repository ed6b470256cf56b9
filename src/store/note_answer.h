// Answers that are written down together with what they tell of.
#pragma once

#include <functional>
#include <string>

#include "store/transaction.h"

namespace postino::store {

// Of a request that must be done once: makes the action by which the commit that does it also writes down of which
// record its answer tells. So a repeat gets that answer, whatever happened right after the commit. Empty: there is no
// such wish.
using NoteAnswer = std::function<TransactAction(const std::string& told_of)>;

}  // namespace postino::store
