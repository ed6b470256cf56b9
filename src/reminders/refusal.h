// Why something about reminders was not done. Whatever is refused has changed nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reminders/record/rule.h"

namespace postino::reminders {

enum class RefusalKind {
  invalid,           // a field breaks a rule
  unknown_customer,  // and so on: what was named does not exist
  unknown_invoice,
  unknown_template,
  unknown_branding,
  unknown_draft,
  unknown_reminder,
  other_revision,   // the caller saw an older one: `current_revision` is what it is now
  wrong_state,      // of a draft: it was rejected, sent, withdrawn, or has expired; of a template
  rule,             // the rules are against it: `decision`
  stopped,          // the customer gets no reminders: opted out, bounced, complained, suppressed, paid, erased
  no_sender,        // nothing says which address reminders come from
  same_person,      // who drafted it may not approve it
  busy,             // others change the same customer: trying again in a moment helps. Or the clock is doubted
  unavailable,      // the store cannot be used now: nothing was done
  outcome_unknown,  // the store failed while it was written: it may have been done
  corrupt,          // a record cannot be read; the message says which and why
};

struct FieldFault {
  std::string field;  // "drafts[2].customer_id"
  std::string rule;   // "must be ..."

  friend bool operator==(const FieldFault&, const FieldFault&) = default;
};

struct Refusal {
  RefusalKind kind = RefusalKind::invalid;
  std::string message = {};             // for people, one sentence without its full stop
  std::vector<FieldFault> faults = {};  // when invalid
  std::optional<Decision> decision = std::nullopt;
  std::optional<int> current_revision = std::nullopt;
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

}  // namespace postino::reminders
