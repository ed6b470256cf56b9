// The outbox at work: intake, sending, callbacks, rescue and leases, started and stopped together.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "net/trouble.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/work/callback_sender.h"
#include "outbox/work/intake.h"
#include "outbox/work/leases.h"
#include "outbox/work/ledger_figures.h"
#include "outbox/work/pipeline_loop.h"
#include "outbox/work/rescuer.h"
#include "outbox/work/sender.h"
#include "outbox/work/statistics.h"
#include "outbox/work/work_signal.h"

namespace postino::outbox {

struct PipelinesOptions {
  base::Milliseconds rescue_interval{1'000};
  base::Milliseconds figures_patience{2'000};  // how long metrics wait for the ledger
  PipelineOptions intake{.workers = 2, .claims = false, .urgent = false};
  PipelineOptions send{.workers = 16};
  PipelineOptions callback{.workers = 8};
  DestinationRules domains;  // of recipients
  bool sends = true;         // false: e-mails that are ready wait, and so do callbacks
  // Told of every e-mail that is in another state than before, by the thread that has written it; must not wait.
  std::function<void(const Email& email)> on_change = {};
};

class Pipelines {
 public:
  // The workers of each kind.
  struct Workers {
    const Intake& intake;
    const Sender& sender;
    const CallbackSender& callback_sender;
  };
  // What all of them share, but for the leases, which are made here. Everything must outlive the pipelines.
  struct Context {
    Ledger& ledger;
    const Policy& policy;
    const base::Clock& clock;
    base::Random& random;
    WorkSignal& signal;               // wakes them
    std::string owner;                // of the leases: different for each process
    MessageMemory* memory = nullptr;  // for messages; nullptr: without limit
  };
  // `every_second` is called about every second, by one thread.
  Pipelines(const Context& context, const Workers& workers, PipelinesOptions options,
            std::function<void()> every_second);
  ~Pipelines() { stop(PipelineLoop::Instant()); }

  void start();
  // From now on nothing more is claimed, and what no worker has begun is given back.
  void begin_stop(PipelineLoop::Instant give_up_at);
  // The same, and finishes what is under way. When the ledger cannot be reached by that time, the rest is left to the
  // rescuer.
  void stop(PipelineLoop::Instant give_up_at);

  // The senders, for e-mails that are accepted into their hands.
  WorkerPlaces& senders() { return send_; }

  // With the queues and counts of the ledger, if it is to be asked. If it does not answer soon, these are what it has
  // answered last.
  void append_metrics(std::string& out, bool ask_ledger);

  // Does a worker here have it, or its outcome that is not written yet?
  bool has(const Email& email) const { return leases_.has(email); }

  // The ledger takes no writes.
  bool is_refused() const { return leases_.health().is_refusing(); }

 private:
  void moved(const Email& before, const Email& after);
  // What an operator wants to know of, in the log.
  void tell(const Email& before, const Email& after);
  // False when there is nothing of the kind.
  bool tell_refused(const Email& before, const Email& after);
  void run_upkeep();
  PipelineLoop& loop(Pipeline pipeline);

  const Context context_;
  const PipelinesOptions options_;
  const std::function<void()> every_second_;
  Statistics statistics_;
  net::RepeatedTrouble trouble_;
  LedgerFigures figures_;
  Leases leases_;
  Rescuer rescuer_;
  PipelineLoop callback_;
  PipelineLoop send_;
  PipelineLoop intake_;

  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;
  std::thread upkeep_;
};

}  // namespace postino::outbox
