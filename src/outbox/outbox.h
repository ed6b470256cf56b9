// What may be asked of the outbox: accept e-mails, look at them, hold, release, cancel and requeue them. The workers do
// the rest.
//
// Every function that takes a tenant answers for that tenant alone, as if there were no others; an empty one sees all.
// Safe to call from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "outbox/email/callback_rule.h"
#include "outbox/email/payload.h"
#include "outbox/email/state_machine.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/ledger/suppressions.h"
#include "outbox/transport/sandbox_mailbox.h"
#include "outbox/work/acceptance_queue.h"
#include "outbox/work/work_signal.h"

namespace postino::outbox {

struct ShownEmail {
  Email email;
  std::vector<HistoryEntry> history;  // oldest first
};

struct BounceOutcome {
  std::string email_id;                       // empty: about none of ours, or about one whose record cannot be read
  std::optional<MalformedRecord> unreadable;  // that record
  std::vector<Bounce> bounces;
  std::vector<std::string> suppressed;  // addresses that get no mail from now on
};

// What a change that may be asked for again writes down about itself, so that a caller that repeats it, and does not
// know what became of it, gets the answer of the first time.
struct ChangeNotes {
  std::string last;  // of an earlier attempt; empty: it wrote nothing, so it changed nothing
  // Durable when it returns. conflict when another request is at it by now.
  std::function<base::Result<void>(const std::string& text)> write;
};

struct OutboxOptions {
  base::Milliseconds key_life = std::chrono::hours(24);  // of an idempotency key
  MessageMemory* memory = nullptr;                       // for what is being accepted; nullptr: without limit
  // Does a worker of this process have it, whether its lease has ended or not? Such an e-mail is not requeued. Empty:
  // there are no workers here.
  std::function<bool(const Email& email)> is_worked_on;
};

class DirectDispatch;

class Outbox {
 public:
  // The signal tells the workers of new work. `dispatch` may be null. Everything given must outlive it.
  Outbox(Ledger& ledger, SuppressionList& suppressions, const Policy& policy, const base::Clock& clock,
         base::Random& random, WorkSignal& signal, OutboxOptions options, DirectDispatch* dispatch = nullptr);
  ~Outbox();

  // `key` is the caller's Idempotency-Key, `request_hash` tells equal requests from others. Outcomes are in the order
  // of the payloads. E-mails without an id get one: the same each time for a repeated key, until that has expired.
  // Large ones that find no room in memory are answered no_room.
  struct KeyedRequest {
    std::string key;
    std::string request_hash;
    std::optional<base::Milliseconds> life;
  };
  base::Result<AcceptAnswer> accept(std::vector<Payload> payloads, const std::string& tenant,
                                    const std::optional<KeyedRequest>& keyed, const RenderAnswer& render);

  // The same without a key and without waiting: together with others that come at this time. False when too many wait,
  // or they find no room in memory; otherwise `done` is called once, on another thread.
  [[nodiscard]] bool accept_soon(std::vector<Payload> payloads, const std::string& tenant, AcceptanceQueue::Done done);
  // One e-mail with an id, in one commit with actions of the caller's on this store: Ledger::accept_with(). An e-mail
  // that finds no room in memory is answered service_unavailable.
  bool shares_commits(const store::Store& store) const { return ledger_.shares_commits(store); }
  JoinedOutcome accept_with(Payload payload, const std::string& tenant, std::vector<store::TransactAction> actions);
  // Returns when everything that was to be accepted soon has been answered.
  void drain() { acceptances_.drain(); }

  // Has an e-mail this very id?
  bool is_known(const std::string& id);

  // Is this callback URL of an e-mail refused, because it leads into a private network (callback_rule.h)? Then the log
  // says so.
  bool refuses_callback(const std::string& callback_url);

  base::Result<ShownEmail> show(const std::string& id, const std::string& tenant);  // not_found
  base::Result<EmailPage> list(const ListRequest& request);
  base::Result<Counts> counts(const std::string& tenant);
  base::Result<std::vector<Email>> stale(const std::string& tenant,
                                         int limit);  // in flight beyond their lease, or unreadable
  base::Result<EmailPage> dead_callbacks(const std::string& tenant, const std::string& cursor, int limit);
  // As it goes out; not_found. They are read only if `admit` has room for them, see Spool::read_if().
  base::Result<std::string> message(const std::string& id, const std::string& tenant, const Spool::Admit& admit);
  // As it was handed in; not_found.
  base::Result<std::string> payload(const std::string& id, const std::string& tenant, const Spool::Admit& admit);

  // Removes payload and message of an e-mail that is finished from the spool; its record stays. False when it is not
  // finished; not_found.
  base::Result<bool> remove_contents(const std::string& id, const std::string& tenant);

  // What is wrong with the record of this e-mail, if it cannot be read. Then all that is asked about it alone is
  // corrupt.
  std::optional<std::string> why_unreadable(const std::string& id);

  // not_found, or conflict when the state forbids it. `reason` goes into the history. They answer the e-mail as it is
  // afterwards. With the notes of an earlier attempt a change is made only if that one did not come to it. They fail
  // with io when the ledger failed while it was written, so that the change may have been made; with exhausted when it
  // was not made, because the ledger cannot be read or does not take it now.
  base::Result<Email> cancel(const std::string& id, const std::string& tenant, const std::string& reason,
                             const ChangeNotes* notes = nullptr);
  base::Result<Email> hold(const std::string& id, const std::string& tenant, const std::string& reason,
                           const ChangeNotes* notes = nullptr);
  base::Result<Email> release(const std::string& id, const std::string& tenant, const std::string& reason,
                              const ChangeNotes* notes = nullptr);
  base::Result<Email> requeue(const std::string& id, const std::string& tenant, const std::string& reason,
                              const ChangeNotes* notes = nullptr);
  base::Result<Email> replay_callback(const std::string& id, const std::string& tenant,
                                      const ChangeNotes* notes = nullptr);

  // One that waits for its next attempt is due now. conflict when it does not wait, or not for an attempt. Other errors
  // as above.
  base::Result<Email> retry(const std::string& id, const std::string& tenant, const ChangeNotes* notes = nullptr);

  // A delivery report (RFC 3464) as it came. invalid when it is none.
  base::Result<BounceOutcome> take_bounce(std::string_view message, const std::string& tenant,
                                          const ChangeNotes* notes = nullptr);

  base::Result<void> suppress(const std::string& tenant, const std::string& address, const std::string& reason);
  base::Result<bool> unsuppress(const std::string& tenant, const std::string& address);  // false: it was not
  base::Result<bool> is_suppressed(const std::string& tenant, const std::string& address);
  base::Result<SuppressionPage> suppressions(const std::string& tenant, const std::string& cursor, int limit);

 private:
  struct Batch;
  // nullptr when there is no room in memory for them.
  std::shared_ptr<Batch> prepare(std::vector<Payload> payloads, const std::string& tenant,
                                 const std::optional<AcceptKey>& key);
  base::Result<AcceptKey> accept_key(const KeyedRequest& keyed, const std::vector<Payload>& payloads,
                                     const std::string& tenant);
  // Tells the workers.
  void accepted(Batch& batch, const std::vector<AcceptOutcome>& outcomes);

  base::Result<Email> find(const std::string& id, const std::string& tenant);
  // Writes what the event makes of it; tries again when a worker has moved it in between.
  base::Result<Email> change(const std::string& id, const std::string& tenant, const ChangeNotes* notes,
                             const Event& event);
  // The same for an event that leaves it in its state. `note` is what an earlier attempt has noted.
  base::Result<Email> amend(const std::string& id, const std::string& tenant, const ChangeNotes* notes,
                            const Event& event, const char* note);
  base::Result<bool> has_line(const std::string& id, const std::string& note);
  base::Result<base::TimePoint> time_of_bounce(const ChangeNotes* notes);

  Ledger& ledger_;
  SuppressionList& suppressions_;
  const Policy& policy_;
  const base::Clock& clock_;
  base::Random& random_;
  WorkSignal& signal_;
  const OutboxOptions options_;
  DirectDispatch* const dispatch_;
  std::atomic<std::int64_t> refused_callbacks_told_ = 0;  // when, in milliseconds since 1970
  AcceptanceQueue acceptances_;                           // ends first: what waits in it uses the rest
};

}  // namespace postino::outbox
