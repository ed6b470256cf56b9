// The ledger: where each e-mail is, and how it got there. What happens to an e-mail is decided by the state machine
// (email/state_machine.h); a ledger writes it in one atomic commit with its lines of history, on condition that the
// e-mail still has the version that the decision was made on.
//
// Two implementations, one contract (tests/outbox/ledger_conformance.h): on a store with DynamoDB's data model, and on
// MySQL. Unit tests of workers have a simple one in memory. Safe to call from any thread.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/email/state_machine.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

// Batches are one commit up to this many; more are split.
inline constexpr std::size_t max_ledger_batch = 25;

struct NewEmail {
  Change change;        // begins with event::Accepted
  std::string payload;  // the JSON it was handed in as
};

enum class AcceptError { duplicated_id, storage, database };
struct AcceptOutcome {
  std::string id;
  std::optional<AcceptError> error;
  std::string message;         // of the error
  std::optional<Email> email;  // as this call has stored it
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
  in_progress,  // another request with this key is being carried out
  other_request,
};
struct AcceptAnswer {
  AcceptStatus status = AcceptStatus::done;
  std::vector<AcceptOutcome> outcomes;  // when done
  std::string stored_answer;            // when done or replayed, with a key
};
// The answer to store under the key, from the outcomes.
using RenderAnswer = std::function<std::string(const std::vector<AcceptOutcome>&)>;

enum class MoveStatus {
  done,
  lock_not_acquired,  // another worker has moved it since: leave it alone
  failed,             // the ledger could not be written; the e-mail is as it was before, or as after the change
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
  std::string tenant;                   // whose e-mails; empty: those of all tenants
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

  // Where the ledger keeps payloads and messages.
  virtual Spool& spool() = 0;

  // Each e-mail is accepted or refused for itself; the accepted ones are durable when this returns, with the answer
  // under the key. Fails as a whole only when the ledger cannot be reached.
  virtual base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                            const RenderAnswer& render) = 0;

  // Takes up to `limit` e-mails that are due, oldest first, each for this owner alone until the lease ends.
  virtual base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner) = 0;

  // The same for work that has no effect but its commit: nothing is taken, other workers may see the same e-mails, and
  // the first one that moves an e-mail has it. Those in `except` are left out.
  virtual base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) = 0;

  // Writes changes that lead to another state. Each stands for itself; as many as possible share a commit. Outcomes in
  // their order.
  virtual std::vector<MoveOutcome> move(std::vector<Change> changes) = 0;

  // Writes changes within a state: lease, due time, what is known of the outcome or of the callback. They have no line
  // of history and no new version. Answers the ids of those that were written; the others have moved on.
  virtual base::Result<std::vector<std::string>> amend(const std::vector<Change>& changes) = 0;

  // E-mails in working states whose lease ended before `before`, oldest first.
  virtual base::Result<std::vector<Email>> find_expired(base::TimePoint before, int limit) = 0;
  // The same for a mere look: find_expired() may leave out, for some seconds, what it has told before.
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

  // Adds a bounce to the e-mail as it is by then, with a line of history. not_found when there is no such e-mail.
  virtual base::Result<void> record_bounce(const std::string& id, const Bounce& bounce) = 0;

  // Takes an e-mail over from another ledger, as it is there: state, version, lease, due time, history, counts. Only
  // its paths are new, and it expires as this ledger's e-mails do. Durable when it returns. false: there is one with
  // this id already, which stays as it is.
  virtual base::Result<bool> restore(const StoredEmail& email) = 0;
};

// One change within a state. conflict when the e-mail has moved on.
base::Result<void> amend(Ledger& ledger, Change change);

}  // namespace postino::outbox
