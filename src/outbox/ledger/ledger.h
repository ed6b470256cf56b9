// The ledger: who is where, and how it got there. Every change is one atomic commit with its line of history,
// conditional on the version the caller saw.
//
// Two implementations, one contract (tests/outbox/ledger_conformance.h): on a store with DynamoDB's model, and on
// MySQL. Safe to call from any thread.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/email/email.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

// Batches are one commit up to this many; more are split.
inline constexpr std::size_t max_ledger_batch = 25;

// Anybody can send reports; an e-mail's record must not grow without end.
inline constexpr std::size_t max_bounces = 100;

struct NewEmail {
  Email email;          // id, tenant, created_at, send_at, callback_url, tags, sender, recipients
  std::string payload;  // the JSON it was handed in as
  // For one that goes further at once: its message, the states it passes, the first one included, and in `email` the
  // state it comes to, with what belongs to that.
  std::optional<std::string> message;
  std::vector<State> through;
};

enum class AcceptError { duplicated_id, storage, database };
struct AcceptOutcome {
  std::string id;
  std::optional<AcceptError> error;
  std::string message;         // of the error
  std::optional<Email> email;  // as it was stored, just now
};

// The caller's promise that equal keys mean equal requests.
struct AcceptKey {
  std::string key;           // with everything that separates name spaces: tenant, operation
  std::string request_hash;  // of the request it was first used for
  base::TimePoint expires_at;
};
enum class AcceptStatus {
  done,
  replayed,     // had been done before: the stored answer
  in_progress,  // another request with this key is at work
  other_request,
};
struct AcceptAnswer {
  AcceptStatus status = AcceptStatus::done;
  std::vector<AcceptOutcome> outcomes;  // when done
  std::string stored_answer;            // when done or replayed, with a key
};
// The answer to store under the key, from the outcomes.
using RenderAnswer = std::function<std::string(const std::vector<AcceptOutcome>&)>;

// From one state to the next. `after` is how the e-mail shall be; its version and updated_at are set by the ledger.
struct Move {
  Email before;
  Email after;
  std::optional<std::string> message;  // its bytes: in the spool no later than the move, which names their path
  std::string note;                    // for the line of history, where it should say something else than after.reason
  std::optional<State> through;        // a state it passes on the way, with a line of its own: one commit for both
  std::string through_note;            // for that line
  // Only while its lease and what is known of its outcome are as in `before`. They change without a new version.
  bool only_unrenewed = false;
};
enum class MoveStatus {
  done,
  lock_not_acquired,  // somebody else has moved it since: leave it alone
  failed,             // the ledger could not be written; the e-mail is as it was, or as `after` says
};
struct MoveOutcome {
  MoveStatus status = MoveStatus::done;
  Email email;        // as it is now, when done
  std::string error;  // when failed
};

struct Claim {
  std::vector<Email> emails;                // in their working state, leased to the owner
  std::optional<base::TimePoint> next_due;  // of what is waiting and not due yet, if it was seen
  bool more = false;                        // there is more that is due
};

struct ListRequest {
  std::string tenant;                   // of whom; empty: everybody's
  std::optional<State> state;           // all when absent
  std::optional<base::TimePoint> from;  // created then or later
  std::optional<base::TimePoint> to;    // created before
  std::string cursor;
  int limit = 50;
};
struct EmailPage {
  std::vector<Email> emails;  // newest first
  std::string cursor;         // empty at the end
};

struct Suppression {
  std::string address;
  std::string reason;
  base::TimePoint since;
};
struct SuppressionPage {
  std::vector<Suppression> suppressions;
  std::string cursor;
};

using Counts = std::array<std::int64_t, state_count>;

// Everything there is of an e-mail, as another ledger and its spool have it.
struct StoredEmail {
  Email email;                        // its paths are those of the other spool
  std::vector<HistoryEntry> history;  // oldest first
  std::string payload;
  std::optional<std::string> message;  // when it has been built
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  // Each e-mail is accepted or refused for itself; the accepted ones are durable when this returns, with the answer
  // under the key. Fails as a whole only when the ledger cannot be reached.
  virtual base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                            const RenderAnswer& render) = 0;

  // Takes up to `limit` e-mails that are due, oldest first, each for this owner alone until the lease ends.
  virtual base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner,
                                    base::Milliseconds lease) = 0;

  // The same for work that has no effect but its move: nothing is taken, others may see the same, and the first who
  // moves an e-mail has it. Those in `except` are left out.
  virtual base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) = 0;

  // The moves stand for themselves; as many as possible share a commit. Outcomes in their order.
  virtual std::vector<MoveOutcome> move(std::vector<Move> moves) = 0;

  // Keeps the leases of e-mails in their working states. Those whose version has gone on are left out of the answer.
  virtual base::Result<std::vector<std::string>> renew(const std::vector<Email>& emails, base::TimePoint until) = 0;

  // Before the end of the message goes out: from here on nobody knows whether it was sent, until a move says so.
  // conflict when the lease is lost.
  virtual base::Result<void> mark_outcome_unknown(const Email& email) = 0;

  // Another due time for a waiting e-mail, without a line of history. conflict when it has moved on.
  virtual base::Result<void> postpone(const Email& email, base::TimePoint due) = 0;

  // Queues a callback that was given up once more, as if it had not been tried. conflict when it has moved on.
  virtual base::Result<void> revive_callback(const Email& email, base::TimePoint due) = 0;

  // E-mails in working states whose lease ended before `before`, oldest first.
  virtual base::Result<std::vector<Email>> find_expired(base::TimePoint before, int limit) = 0;
  // The same for someone who only looks: find_expired() may leave out, for some seconds, what it has told before.
  virtual base::Result<std::vector<Email>> stale(base::TimePoint before, int limit) = 0;

  virtual base::Result<std::optional<Email>> find(const std::string& id) = 0;
  virtual base::Result<std::vector<HistoryEntry>> history(const std::string& id) = 0;  // oldest first
  // invalid when the cursor is not one of ours.
  virtual base::Result<EmailPage> list(const ListRequest& request) = 0;
  // E-mails whose callback was given up.
  virtual base::Result<EmailPage> dead_callbacks(const std::string& cursor, int limit) = 0;
  virtual base::Result<Counts> counts(const std::optional<std::string>& tenant) = 0;
  // Since when the longest waiting e-mail of the pipeline is due.
  virtual base::Result<std::optional<base::TimePoint>> oldest_due(Pipeline pipeline) = 0;

  // Adds a bounce to the e-mail and a line to its history; its state stays. Beyond max_bounces nothing is added.
  // not_found when there is no such e-mail.
  virtual base::Result<void> record_bounce(const std::string& id, const Bounce& bounce) = 0;

  // Addresses that get no mail any more, of a tenant; those of the empty tenant hold for all. They are compared without
  // regard to case.
  virtual base::Result<void> suppress(const std::string& tenant, const Suppression& suppression) = 0;
  virtual base::Result<bool> unsuppress(const std::string& tenant,
                                        const std::string& address) = 0;  // false: it was not
  virtual base::Result<std::vector<Suppression>> find_suppressed(const std::string& tenant,
                                                                 const std::vector<std::string>& addresses) = 0;
  virtual base::Result<SuppressionPage> suppressions(const std::string& tenant, const std::string& cursor,
                                                     int limit) = 0;
  // The tenants that have any; the empty one among them.
  virtual base::Result<std::vector<std::string>> suppressing_tenants() = 0;

  // Takes an e-mail over from another ledger, as it is there: state, version, lease, due time, history, counts. Only
  // its paths are new, and it expires as this ledger's e-mails do. Durable when it returns. false: there is one with
  // this id already, which stays as it is.
  virtual base::Result<bool> restore(const StoredEmail& email) = 0;
};

}  // namespace postino::outbox
