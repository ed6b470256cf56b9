// Everything that can happen to an e-mail. What each of them does is decided in state_machine.cc.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "outbox/email/description.h"
#include "outbox/email/email.h"
#include "smtp/send_result.h"

namespace postino::outbox {

namespace event {

// A caller handed it in, and it is valid.
struct Accepted {};

// A worker makes it into a message without a lease: that has no effect but its commit.
struct IntakeBegun {};
struct MessageBuilt {
  std::string message;
};
// It cannot be made into a message, now or later.
struct PayloadRejected {
  std::string reason;
  bool internal = false;  // the reason is for operators
};
// It cannot be made into a message now, because of trouble of ours.
struct IntakeFailed {
  std::string reason;
  bool is_payload_missing = false;  // it may never come: not for ever
};

// A worker of this process takes it, for as long as a lease lasts.
struct Claimed {
  std::string owner;  // the process
};
// The worker was told to end before it began.
struct GivenBack {};
struct LeaseRenewed {};
// Its worker must be gone: the lease ended and was not renewed.
struct LeaseEnded {};

// The sender is about to send the end of the message.
struct MessageEnding {};
struct SendingAttempted {
  std::vector<Suppression> suppressed;  // of the pending recipients: these were not tried
  smtp::SendResult result;              // for the others
};
// Nothing was tried, for reasons that are not the e-mail's.
struct SendingPostponed {
  std::string reason;
  base::TimePoint due;
};
// The message is damaged, or cannot be that of the e-mail.
struct MessageLost {
  std::vector<Suppression> suppressed;
  std::string reason;
};

struct CallbackAcknowledged {};
struct CallbackFailed {
  std::string error;
  std::optional<base::Milliseconds> retry_after;  // as the receiver asked
  bool permanent = false;                         // another attempt would fail as well
};

// What operators do. The reason goes into the history.
struct Held {
  std::string reason;
};
struct Released {
  std::string reason;
};
struct Cancelled {
  std::string reason;
};
// Of one that a worker has: only when its lease has ended.
struct Requeued {
  std::string reason;
};
// A callback that was given up is tried again, as if it had not been tried.
struct CallbackReplayed {};
// Another program has brought it to an end and was to call back for it, and is gone for good.
struct CallbackTakenOver {};

// One that waits for its next attempt, or to be made into a message once more, is due at once.
struct Retried {};

struct Bounced {
  Bounce bounce;
};

// It was written by another program that works on the same tables. If the e-mail has a due time, it is that of its
// state.
struct Adopted {
  std::optional<Description> description = std::nullopt;  // when its payload was read
  bool is_new = false;                                    // the ledger has not had it before
  bool is_moved = false;                                  // the other program has brought it into its state
  std::optional<base::TimePoint> expires = std::nullopt;  // as the other program wants it
};
// It comes from another ledger.
struct Restored {
  std::vector<HistoryEntry> history;  // oldest first
};

}  // namespace event

using Event = std::variant<event::Accepted, event::IntakeBegun, event::MessageBuilt, event::PayloadRejected,
                           event::IntakeFailed, event::Claimed, event::GivenBack, event::LeaseRenewed,
                           event::LeaseEnded, event::MessageEnding, event::SendingAttempted, event::SendingPostponed,
                           event::MessageLost, event::CallbackAcknowledged, event::CallbackFailed, event::Held,
                           event::Released, event::Cancelled, event::Requeued, event::CallbackReplayed,
                           event::CallbackTakenOver, event::Retried, event::Bounced, event::Adopted, event::Restored>;

}  // namespace postino::outbox
