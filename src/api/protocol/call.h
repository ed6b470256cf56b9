// A call of the API as its handler sees it, and what it answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/audit_reader.h"
#include "access/key_ring.h"
#include "api/protocol/access.h"
#include "api/protocol/problem.h"
#include "api/protocol/target.h"
#include "backup/backups.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "capacity/planner.h"
#include "http/message.h"
#include "idempotency/guard.h"
#include "messages/service.h"
#include "metrics/metrics.h"
#include "outbox/outbox.h"
#include "reminders/reminders.h"
#include "store/note_answer.h"
#include "support/support_desk.h"

namespace postino::api {

class SignIns;

struct Reply {
  int status = 200;
  std::string content_type;  // empty without a body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<base::MemoryBudget::Share> memory = nullptr;  // as in http::Response
  std::shared_ptr<http::BodyStream> stream = nullptr;           // as in http::Response
  // Of a route that can tell it again (Route::again): of which record. No personal data.
  std::string told_of = {};
};
using Outcome = base::Result<Reply, Problem>;
using Finish = std::function<void(Outcome)>;

inline constexpr std::string_view json_content_type = "application/json";
inline constexpr std::string_view message_content_type = "message/rfc822";

Reply json_reply(std::string body, int status = 200);
Reply no_content();
// A message to be kept in a file, not to be shown by a browser.
Reply message_reply(std::string message, const std::string& id);

// What handlers work with.
struct Services {
  outbox::Outbox& outbox;
  outbox::SandboxMailbox* mailbox;  // nullptr: mail goes to a relay
  messages::MessageService& messages;
  idempotency::Guard& request_keys;  // of calls that do not see to their Idempotency-Key themselves
  idempotency::Guard& store_keys;    // of those among them that are about records of this server's store
  const base::Clock& clock;
  bool require_idempotency_key;
  reminders::Reminders* reminders;  // nullptr: there are none
  const capacity::Planner& planner;
  support::SupportDesk* tickets;         // nullptr: there are none
  metrics::Metrics* metrics;             // nullptr: nothing is counted
  SignIns* sign_ins = nullptr;           // nullptr: there are no sessions
  access::AuditReader* audit = nullptr;  // nullptr: nothing is written down
  backup::Backups* backups = nullptr;    // nullptr: none are made
  access::KeyRing* keys = nullptr;       // nullptr: there are none in the store
};

// The memory for a large answer. It is taken before the answer is read, by its size.
class AnswerMemory {
 public:
  explicit AnswerMemory(base::MemoryBudget* budget) : budget_(budget) {}  // nullptr: without limit

  // False when too many answers have not been taken. One that is larger than the whole limit is admitted when there is
  // no other.
  bool admit(std::size_t bytes);
  bool is_refused() const { return is_refused_; }
  // For an answer that is made: what was taken for it, or is taken now. Empty when there is too little.
  base::MemoryBudget::Share share_for(std::size_t bytes);

 private:
  base::MemoryBudget* const budget_;
  base::MemoryBudget::Share share_;
  bool is_refused_ = false;
};

struct Page {
  std::string cursor;
  int limit = 0;
};

struct TimeRange {
  std::optional<base::TimePoint> since;
  std::optional<base::TimePoint> until;  // without it
};

struct Call {
  const Services& services;
  const http::Request& request;  // its query and the type of its body have been checked
  const Caller& caller;
  std::vector<std::pair<std::string_view, std::string>> path_parameters;
  Query query;
  AnswerMemory& answer;
  const outbox::ChangeNotes* notes = nullptr;  // of a change with an idempotency key
  store::NoteAnswer note_answer = {};          // the same of one that is a commit of the store, on routes with `again`
  store::NoteProgress note_progress = {};      // and of one that is several

  const std::string& path_parameter(std::string_view name) const;
  // The path's {id}, in lower case as ids of Postino are, unless another program has an e-mail with this very id.
  base::Result<std::string, Problem> email_id() const;

  // For reading what the answer consists of.
  outbox::Spool::Admit admit() const {
    return [&memory = answer](std::size_t bytes) { return memory.admit(bytes); };
  }

  // Parameters of the query; empty or nullopt when they are not given.
  std::string text(std::string_view parameter) const;
  // `since` and `until`, each a moment or a day in UTC: from the beginning of the one to the end of the other.
  base::Result<TimeRange, Problem> time_range() const;
  base::Result<std::optional<int>, Problem> number(std::string_view parameter, int most) const;  // from 1
  base::Result<int, Problem> limit() const;
  base::Result<Page, Problem> page() const;

  // From a body {"reason": "..."}; empty when it has none, or there is no body.
  base::Result<std::string, Problem> reason() const;
  // For a call whose body has nothing to say: some clients send an empty object then.
  base::Result<void, Problem> no_fields() const;
};

// For a call about an e-mail whose record cannot be read.
inline tl::unexpected<Problem> refuse_unreadable(const std::string& reason) {
  return refuse(problems::unreadable_email, "It is left alone until its record is repaired: " + reason + ".");
}

// An error of the outbox for a call about one e-mail. A damaged record is no failure of the server: repeating the call
// does not help, and an operator has to mend the record.
template <class T>
base::Result<T, Problem> answered_about(const Call& call, const std::string& id, base::Result<T> answer,
                                        const ProblemType& absent = problems::email_not_found) {
  // Whose it is cannot be told either, so a tenant is told that there is none.
  if (!answer && answer.error().code == base::ErrorCode::corrupt && !call.caller.tenant.empty())
    return refuse(absent, "No e-mail has this id.");
  if (!answer && answer.error().code == base::ErrorCode::corrupt)
    if (const auto reason = call.services.outbox.why_unreadable(id)) return refuse_unreadable(*reason);
  return answered(std::move(answer), absent);
}

// When the store failed while something was written: the caller has to find out.
inline tl::unexpected<Problem> refuse_in_doubt(std::string what_to_do, base::Error error) {
  auto refusal = refuse(problems::outcome_unknown, std::move(what_to_do));
  refusal.value().cause = std::move(error.message);
  return refusal;
}

// The same for a change of an e-mail.
template <class T>
base::Result<T, Problem> answered_change(const Call& call, const std::string& id, base::Result<T> answer) {
  if (answer || answer.error().code != base::ErrorCode::io) return answered_about(call, id, std::move(answer));
  return refuse_in_doubt(
      "The change may have been made. Look at the e-mail, or repeat the request: with the same Idempotency-Key, a "
      "change that was made is not made again.",
      std::move(answer).error());
}

// The same for contents of one e-mail. A record that names what cannot be its contents is damaged as well.
template <class T>
base::Result<T, Problem> answered_with_contents(const Call& call, const std::string& id, base::Result<T> answer,
                                                const ProblemType& absent) {
  if (answer || answer.error().code != base::ErrorCode::corrupt) return answered(std::move(answer), absent);
  if (!call.caller.tenant.empty()) return refuse(absent, "No e-mail has this id.");
  return refuse_unreadable(call.services.outbox.why_unreadable(id).value_or(answer.error().message));
}

// An error of the outbox for a call with a cursor: when it is the caller's fault, it is the cursor's. A table or an
// index that is not there is the server's.
template <class T>
base::Result<T, Problem> answered_page(base::Result<T> answer) {
  if (!answer && answer.error().code == base::ErrorCode::invalid)
    return refuse_field("cursor", "must be the cursor of an earlier response, with the same parameters");
  return answered(std::move(answer), problems::internal_error);
}

}  // namespace postino::api
