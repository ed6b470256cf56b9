// Why something about tickets was not done. Whatever is refused has changed nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/error.h"
#include "support/record/ticket_status.h"

namespace postino::support {

enum class RefusalKind {
  invalid,         // a field breaks a rule
  unknown_ticket,  // there is none, or the caller may not see it
  unknown_attachment,
  unknown_answer,   // a received message answers no e-mail of a ticket
  other_version,    // the caller saw an older one: `current_version` and `current_status` are what it is now
  wrong_state,      // there is no such move from `current_status`
  key_reused,       // the idempotency key belongs to another request
  no_sender,        // nothing says which address e-mails come from
  busy,             // others change the same ticket: trying again in a moment helps
  unavailable,      // the store cannot be used now: nothing was done
  outcome_unknown,  // the store failed while it was written: it may have been done
  corrupt,          // a record cannot be read; the message says which and why
};

struct FieldFault {
  std::string field;  // "customer.id"
  std::string rule;   // "must be ..."

  friend bool operator==(const FieldFault&, const FieldFault&) = default;
};

struct Refusal {
  RefusalKind kind = RefusalKind::invalid;
  std::string message = {};             // for people, one sentence without its full stop
  std::vector<FieldFault> faults = {};  // when invalid
  std::optional<std::int64_t> current_version = std::nullopt;
  std::optional<TicketStatus> current_status = std::nullopt;
};

// What a call gives, or why it was refused.
template <class T>
using OrRefusal = base::Result<T, Refusal>;

inline tl::unexpected<Refusal> refuse(RefusalKind kind, std::string message) {
  return tl::unexpected<Refusal>(Refusal{.kind = kind, .message = std::move(message)});
}
inline tl::unexpected<Refusal> refuse_field(std::string field, std::string rule) {
  Refusal refusal;
  refusal.message = field + " " + rule;
  refusal.faults.push_back({std::move(field), std::move(rule)});
  return tl::unexpected<Refusal>(std::move(refusal));
}
// The same words for a ticket that is not there and for one that the caller may not see.
inline tl::unexpected<Refusal> refuse_unknown(const std::string& ticket_id) {
  return refuse(RefusalKind::unknown_ticket, "there is no ticket " + ticket_id);
}

// An error of the store, as this module tells it: of a write, and of a read, which leaves nothing unknown.
Refusal refusal_of(const store::Error& error);
Refusal refusal_of_read(const store::Error& error);
// Of a record that cannot be read, or of the outbox.
Refusal refusal_of(const base::Error& error);

// Which actions of a cancelled transaction did not meet their conditions.
std::vector<std::size_t> failed_conditions(const store::Error& error);

}  // namespace postino::support
