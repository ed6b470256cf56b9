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

// Of a request that is several commits: what those of an execution that was cut off have written down, and the action
// by which the next one writes down more. So a repeat does only what is left.
struct NoteProgress {
  std::string last = {};
  std::function<TransactAction(const std::string& text)> action = {};  // empty: there is no such wish
};

}  // namespace postino::store
