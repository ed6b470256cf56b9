// The guard of a customer: what the rules rest on, in one item.
//
// Every approval is written on condition that the guard has the version that was decided on, and gives it another. All
// that may change a decision does so, too: payments, opting out, bounces, complaints, changes of the address, erasure.
// So of two that come together one is refused, and decides again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reminders/record/rule.h"

namespace postino::reminders {

struct Guard {
  std::vector<LastSent> last;  // at most one of each type
  std::string seen;            // sent records up to this id are in it; later ones another program wrote
  std::int64_t version = 0;    // 0: there is none yet
  // Not stored: why it may lack something. A sent record cannot be read, so that no approval may rest on this guard.
  std::string unreadable = {};

  // With a reminder that was sent at that time. The last one of its type stays the last one.
  Guard with(const std::string& type, base::TimePoint at, const std::string& record) const;
};

}  // namespace postino::reminders
