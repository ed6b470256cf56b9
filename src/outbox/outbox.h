// What may be asked of the outbox: accept e-mails, look at them, and change their course. The pipelines do the rest.
//
// Every function that takes a tenant answers for that tenant alone, as if there were no others; an empty one sees all.
// Safe to call from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "outbox/email/payload.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/spool.h"
#include "outbox/transport/mailbox.h"
#include "outbox/work/acceptance_queue.h"
#include "outbox/work/short_way.h"

namespace postino::outbox {

struct ShownEmail {
  Email email;
  std::vector<HistoryEntry> history;  // oldest first
};

struct BounceOutcome {
  std::string email_id;  // empty: the report is about none of ours
  std::vector<Bounce> bounces;
  std::vector<std::string> suppressed;  // addresses that get no mail from now on
};

// What a change that may be asked for again writes down about itself, so that whoever repeats it, and does not know
// what became of it, can find out.
struct ChangeNotes {
  std::string last;  // of an earlier attempt; empty: it wrote nothing, so it changed nothing
  // Durable when it returns. conflict when somebody else is at it by now.
  std::function<base::Result<void>(const std::string& text)> write;
};

struct OutboxOptions {
  base::Milliseconds key_life = std::chrono::hours(24);  // of an idempotency key
};

class Outbox {
 public:
  // Called after a commit that made work for the pipeline.
  using Wake = std::function<void(Pipeline)>;
  // `short_way` may be null.
  Outbox(Ledger& ledger, Spool& spool, const base::Clock& clock, base::Random& random, OutboxOptions options, Wake wake,
         ShortWay* short_way = nullptr);

  // `key` is the caller's Idempotency-Key, `request_hash` tells equal requests from others. Outcomes are in the order
  // of the payloads. E-mails without an id get one: the same each time for a repeated key.
  struct KeyedRequest {
    std::string key;
    std::string request_hash;
    std::optional<base::Milliseconds> life;
  };
  base::Result<AcceptAnswer> accept(std::vector<Payload> payloads, const std::string& tenant,
                                    const std::optional<KeyedRequest>& keyed, const RenderAnswer& render);

  // The same without a key and without waiting: together with others that come at this time. False when too many wait;
  // otherwise `done` is called once, on another thread.
  [[nodiscard]] bool accept_soon(std::vector<Payload> payloads, const std::string& tenant, AcceptanceQueue::Done done);
  // Returns when everything that was to be accepted soon has been answered.
  void drain() { acceptances_.drain(); }
  // Is it busy accepting e-mails that way?
  bool is_accepting_many() { return acceptances_.is_busy(); }

  base::Result<ShownEmail> show(const std::string& id, const std::string& tenant);  // not_found
  base::Result<EmailPage> list(const ListRequest& request);
  base::Result<Counts> counts(const std::string& tenant);
  base::Result<std::vector<Email>> stale(const std::string& tenant, int limit);  // in flight beyond their lease
  base::Result<EmailPage> dead_callbacks(const std::string& tenant, const std::string& cursor, int limit);
  base::Result<std::string> message(const std::string& id, const std::string& tenant);  // as it goes out; not_found
  base::Result<std::string> payload(const std::string& id,
                                    const std::string& tenant);  // as it was handed in; not_found

  // not_found, or conflict with what the state forbids. `reason` goes into the history. They answer the e-mail as it is
  // afterwards. With the notes of an earlier attempt a change is made only if that one did not come to it.
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

  // A delivery report (RFC 3464) as it came. invalid when it is none.
  base::Result<BounceOutcome> take_bounce(std::string_view message, const std::string& tenant,
                                          const ChangeNotes* notes = nullptr);

  base::Result<void> suppress(const std::string& tenant, const std::string& address, const std::string& reason);
  base::Result<bool> unsuppress(const std::string& tenant, const std::string& address);  // false: it was not
  base::Result<SuppressionPage> suppressions(const std::string& tenant, const std::string& cursor, int limit);

 private:
  // E-mails as the ledger takes them, and the part of the short way that some of them take.
  struct Acceptance {
    std::vector<NewEmail> emails;
    std::optional<ShortWay::Acceptance> short_way;
  };
  std::shared_ptr<Acceptance> prepare(std::vector<Payload> payloads, const std::string& tenant,
                                      const std::optional<KeyedRequest>& keyed);
  // Tells those who go on with them.
  void accepted(Acceptance& acceptance, const std::vector<AcceptOutcome>& outcomes);

  base::Result<Email> find(const std::string& id, const std::string& tenant);
  // Moves it where `change` says; tries again when somebody else has moved it in between.
  using Change = std::function<base::Result<Email>(const Email&)>;
  base::Result<Email> change(const std::string& id, const std::string& tenant, const ChangeNotes* notes,
                             const Change& change);
  base::Result<bool> has_line(const std::string& id, const std::string& note);
  base::Result<base::TimePoint> time_of_bounce(const ChangeNotes* notes);

  Ledger& ledger_;
  Spool& spool_;
  const base::Clock& clock_;
  base::Random& random_;
  const OutboxOptions options_;
  const Wake wake_;
  ShortWay* const short_way_;
  AcceptanceQueue acceptances_;  // ends first: what waits in it uses the rest
};

}  // namespace postino::outbox
