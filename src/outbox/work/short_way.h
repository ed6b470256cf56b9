// The short way: an e-mail whose message can be built at once is accepted as READY, and when a worker is free it is the
// worker's from the start. One commit instead of three; the history is the same.
#pragma once

#include "outbox/ledger/ledger.h"
#include "outbox/work/fresh_messages.h"
#include "outbox/work/intake.h"
#include "outbox/work/pipelines.h"

namespace postino::outbox {

struct ShortWayOptions {
  std::string owner;  // of the leases, as the pipelines have it
  base::Milliseconds lease{30'000};
  bool unknown_from_claim = false;  // as the ledger has it
};

// Safe to use from any thread.
class ShortWay {
 public:
  ShortWay(const Intake& intake, Pipelines& pipelines, FreshMessages& fresh, const base::Clock& clock,
           ShortWayOptions options)
      : intake_(intake), pipelines_(pipelines), fresh_(fresh), clock_(clock), options_(std::move(options)) {}

  // One acceptance: take() before it for each e-mail, hand_over() after it. What was not handed over is nobody's.
  class Acceptance {
   public:
    explicit Acceptance(ShortWay& way) : way_(way) {}
    ~Acceptance() { hand_over({}); }
    Acceptance(const Acceptance&) = delete;
    Acceptance& operator=(const Acceptance&) = delete;

    // Builds the message and sends the e-mail further along, if it can be.
    void take(NewEmail& email, Payload payload);
    void hand_over(const std::vector<AcceptOutcome>& outcomes);

   private:
    ShortWay& way_;
    int reserved_ = 0;
    std::map<std::string, std::string> messages_;  // of those that go to a worker, by id
  };

 private:
  const Intake& intake_;
  Pipelines& pipelines_;
  FreshMessages& fresh_;
  const base::Clock& clock_;
  const ShortWayOptions options_;
};

}  // namespace postino::outbox
