// Direct dispatch: an e-mail whose message can be built at once is accepted as READY, and when a sender is free it is
// accepted into its hands, as PROCESSING. One commit instead of three; the history is the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "outbox/ledger/ledger.h"
#include "outbox/work/fresh_messages.h"
#include "outbox/work/intake.h"
#include "outbox/work/worker_places.h"

namespace postino::outbox {

// Safe to use from any thread.
class DirectDispatch {
 public:
  // `owner` is the process that has the senders' leases. Messages count in `memory`, if it is given. Everything given
  // must outlive it.
  DirectDispatch(const Intake& intake, WorkerPlaces& senders, FreshMessages& fresh, const Policy& policy,
                 std::string owner, MessageMemory* memory = nullptr)
      : intake_(intake), senders_(senders), fresh_(fresh), policy_(policy), owner_(std::move(owner)), memory_(memory) {}

  // The e-mails of one acceptance: take() before it for each, hand_over() after it. Places that are kept for e-mails
  // that were not accepted are free again then.
  class Batch {
   public:
    explicit Batch(DirectDispatch& dispatch) : dispatch_(dispatch) {}
    ~Batch() { hand_over({}); }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Builds the message and takes the e-mail further, if it can be. It was decided to accept it at `now`.
    void take(NewEmail& email, Payload payload, base::TimePoint now);
    // Gives those that were accepted to the senders.
    void hand_over(const std::vector<AcceptOutcome>& outcomes);

   private:
    // For those that go to a sender.
    struct Taken {
      WorkerPlace place;
      FreshMessage message;
    };
    DirectDispatch& dispatch_;
    std::map<std::string, Taken> taken_;  // by id
  };

 private:
  const Intake& intake_;
  WorkerPlaces& senders_;
  FreshMessages& fresh_;
  const Policy& policy_;
  const std::string owner_;
  MessageMemory* const memory_;  // may be null
};

}  // namespace postino::outbox
