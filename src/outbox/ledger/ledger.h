// The ledger: where each e-mail is, and how it got there. What happens to an e-mail is decided by the state machine
// (email/state_machine.h); a ledger writes it in one atomic commit with its lines of history, on condition that the
// e-mail still has the version that the decision was made on.
//
// Two implementations, one contract (tests/outbox/ledger_conformance.h): on a store with DynamoDB's data model, and on
// MySQL. Unit tests of workers have a simple one in memory. Safe to call from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/email/email_filter.h"
#include "outbox/email/state_machine.h"
#include "outbox/ledger/malformed_records.h"
#include "outbox/ledger/queue_reader.h"
#include "outbox/ledger/spool.h"
#include "store/error.h"
#include "store/transaction.h"

namespace postino::store {
class Store;
}

namespace postino::outbox {

// Batches are one commit up to this many; more are split.
inline constexpr std::size_t max_ledger_batch = 25;

struct NewEmail {
  Change change;        // begins with event::Accepted
  std::string payload;  // the JSON it was handed in as
};

enum class AcceptError {
  duplicated_id,
  storage,   // its contents could not be written: it is not there
  database,  // the ledger has not taken it: it is not there
  unknown,   // the ledger failed while it was written: it may be there
};
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
  base::TimePoint used_at = {};  // what had expired by then belongs to an earlier use
  // Tells the use of a key from an earlier one, whose e-mails are still there; empty if there is none.
  std::string generation = {};

  // The same each time for e-mail number `index` of the request.
  std::string name_of_email(std::size_t index) const;
  // Says also when the key expires.
  std::string token_of_email(std::size_t index) const;
  // Was the e-mail with this acceptance token accepted as number `index` of the request, by this use of the key? So a
  // repeat of a half done one knows its own.
  bool has_accepted(std::size_t index, std::string_view token) const;
};
// How an e-mail was accepted.
struct Acceptance {
  std::string token;
  base::TimePoint at;
};
enum class AcceptStatus {
  done,
  replayed,     // had been done before: the stored answer
  in_progress,  // another request with this key is being carried out
  other_request,
  unreadable_key,  // the record of the key cannot be read: nothing was done, and what was done before is not known
  no_room,         // in memory, for e-mails as large as these: nothing was done, and it may be tried again
  unknown,         // the ledger failed while they were written: some may be there. A repeat with the key finds out
};
struct AcceptAnswer {
  AcceptStatus status = AcceptStatus::done;
  std::vector<AcceptOutcome> outcomes;  // when done
  std::string stored_answer;            // when done or replayed, with a key
};
// The answer to store under the key, from the outcomes.
using RenderAnswer = std::function<std::string(const std::vector<AcceptOutcome>&)>;

// What became of an e-mail that was to be accepted in one commit with records of others.
struct JoinedOutcome {
  std::optional<Email> email;  // as it is stored: all was written
  bool known = false;          // there is an e-mail with this id already: nothing was written by this attempt
  // Nothing was written, unless it is internal_server_error: then all may be.
  std::optional<store::Error> error;
};

enum class MoveStatus {
  done,
  lock_not_acquired,  // another worker has moved it since: leave it alone
  failed,             // the ledger could not be written
};
struct MoveOutcome {
  MoveStatus status = MoveStatus::done;
  Email email;            // as it is now, when done
  std::string error;      // when failed
  bool in_doubt = false;  // when failed: it may be as after the change
};

struct Claim {
  std::vector<Email> emails;                // in their working state, leased to the owner
  std::optional<base::TimePoint> next_due;  // of what is waiting and not due yet, if it was seen
  bool more = false;                        // there is more that is due, and may be wanted
};

// What became of leases that were to be renewed. Those in neither list are as they were: they could not be written now.
struct Renewals {
  std::vector<std::string> kept;  // ids
  std::vector<std::string> lost;  // moved on
  std::string error;              // why some could not be written; empty when it was only for now, and for each alone
};

// For one page a ledger looks at so many e-mails at most, if not more are asked for: what is rare among many is found
// by going on. It reads so many of them at once.
inline constexpr int most_examined = 1'000;
inline constexpr int examined_at_once = 200;

struct ListRequest {
  std::string tenant;                    // whose e-mails; empty: those of all tenants
  std::vector<State> states;             // in one of these; all when empty
  std::optional<base::TimePoint> since;  // created then or later
  std::optional<base::TimePoint> until;  // created before
  EmailFilter filter;
  std::string cursor;
  int limit = 50;

  bool has_state(State state) const { return states.empty() || std::ranges::find(states, state) != states.end(); }
};
// It may have fewer e-mails than were asked for, even none, and not be the last.
struct EmailPage {
  std::vector<Email> emails;  // newest first
  std::string cursor;         // empty at the end
};

// Of a history, so much is read at most: the newest lines. Other programs may write as many as they like.
inline constexpr std::size_t most_history_lines = 1'000;
inline constexpr std::size_t most_history_bytes = 8 << 20;

using Counts = std::array<std::int64_t, state_count>;

// Everything there is of an e-mail, as another ledger and its spool have it.
struct StoredEmail {
  Email email;                        // its paths are those of the other spool
  std::vector<HistoryEntry> history;  // oldest first
  std::string payload;
  std::optional<std::string> message;  // when it has been built
};

// A spool outside of the ledger, as those who share the ledger know it (kept_spool.h).
struct SpoolNote {
  std::string id;     // empty: there is none, contents are with the e-mails
  std::string place;  // for people
  bool operator==(const SpoolNote&) const = default;
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  // Where the ledger keeps payloads and messages.
  virtual Spool& spool() = 0;

  // On a ledger that is shared: where contents of its e-mails are, so that all processes use the same spool. What is
  // noted stays, and what noted_spool() tells, unless it is the one with the id `replaced`.
  virtual base::Result<SpoolNote> noted_spool() { return SpoolNote(); }
  virtual base::Result<void> note_spool(const SpoolNote& /*spool*/, const std::string& /*replaced*/) { return {}; }

  // Each e-mail is accepted or refused for itself; the accepted ones are durable when this returns, with the answer
  // under the key. Fails as a whole only when the ledger cannot be reached: then none is there.
  virtual base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                            const RenderAnswer& render) = 0;

  // Can an e-mail be accepted in one commit with items of this store?
  virtual bool shares_commits(const store::Store&) const { return false; }
  // Does so. The conditions of the actions count; the reasons of a cancelled transaction begin with theirs, in their
  // order. Only where shares_commits().
  virtual JoinedOutcome accept_with(NewEmail email, std::vector<store::TransactAction> actions);

  // Takes up to `limit` e-mails that are due and wanted, oldest first, each for this owner alone until the lease ends.
  // Those that are not wanted stay as they are. One caller at a time for each pipeline.
  virtual base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) = 0;
  // The same for all that are due. Any number of callers.
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

  // Writes renewals of leases. One that cannot be written keeps none of the others back.
  virtual Renewals renew(const std::vector<Change>& renewals);

  // Can it be written? Writes something that means nothing, so that reading well is not taken for working.
  virtual base::Result<void> try_write() { return {}; }
  // Do other processes work on it, too? Then their renewals count as much as ours.
  virtual bool is_shared() const { return false; }
  // Do all of them take the time from the ledger? Otherwise the clock of one may be ahead: that a lease is over by it
  // does not tell that the worker is gone.
  virtual bool has_one_clock() const { return !is_shared(); }

  // E-mails whose lease is over at `before` (is_lease_over()), oldest first. On a shared ledger without those that
  // others have locked: their leases cannot be renewed at the moment.
  virtual base::Result<std::vector<Email>> find_ended_leases(base::TimePoint before, int limit) = 0;
  // The same for a mere look: find_ended_leases() may leave out, for some seconds, what it has told before.
  virtual base::Result<std::vector<Email>> stale(base::TimePoint before, int limit) = 0;

  // What was met so far and cannot be read. A caller who asks for several e-mails gets the others.
  virtual std::vector<MalformedRecord> malformed() const { return {}; }

  // corrupt when its record cannot be read.
  virtual base::Result<std::optional<Email>> find(const std::string& id) = 0;
  // By id, of those that are there and can be read.
  virtual base::Result<std::map<std::string, Acceptance>> acceptances(const std::vector<std::string>& ids);
  // Oldest first; of a very long one the newest lines.
  virtual base::Result<std::vector<HistoryEntry>> history(const std::string& id) = 0;
  // invalid when the cursor is not one of ours.
  virtual base::Result<EmailPage> list(const ListRequest& request) = 0;
  // E-mails whose callback was given up; of all tenants when the tenant is empty.
  virtual base::Result<EmailPage> dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) = 0;
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

// Must what belongs to this e-mail be kept? Until it is finished and its time has passed; and when that cannot be found
// out now.
bool is_needed(Ledger& ledger, const std::string& id, const Policy& policy, base::TimePoint now);

// One change within a state. conflict when the e-mail has moved on.
base::Result<void> amend(Ledger& ledger, Change change);

}  // namespace postino::outbox
