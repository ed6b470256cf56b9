// The outbox at work: intake, sending, callbacks, rescue and heartbeats, started and stopped together.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "outbox/work/caller.h"
#include "outbox/work/intake.h"
#include "outbox/work/leases.h"
#include "outbox/work/pipeline_loop.h"
#include "outbox/work/rescuer.h"
#include "outbox/work/sender.h"
#include "outbox/work/statistics.h"

namespace postino::outbox {

struct PipelinesOptions {
  std::string owner;  // who holds the leases: different for each process
  base::Milliseconds lease{30'000};
  base::Milliseconds rescue_interval{1'000};
  PipelineOptions intake{.workers = 2, .claims = false, .urgent = false};
  PipelineOptions send{.workers = 16};
  PipelineOptions callback{.workers = 8};
};

class Pipelines {
 public:
  // Everything given must outlive it. `tick` is called about every second, by one thread.
  Pipelines(Ledger& ledger, const base::Clock& clock, const Course& course, const Intake& intake, const Sender& sender,
            const Caller& caller, PipelinesOptions options, std::function<void()> tick);
  ~Pipelines() { stop(PipelineLoop::Instant()); }

  void start();
  void wake(Pipeline pipeline);
  // Finishes what is under way. When the ledger cannot be reached by that time, the rest is left to the rescue.
  void stop(PipelineLoop::Instant give_up_at);

  // Room for one more e-mail that is accepted in the name of this process's workers; adopt_sending() must follow.
  bool reserve_sending() { return send_.reserve(); }
  void adopt_sending(std::vector<Email> emails, int reserved) { send_.adopt(std::move(emails), reserved); }

  // With the queues and counts of the ledger, if it is to be asked.
  void append_metrics(std::string& out, bool ask_ledger) const;

 private:
  void moved(const Email& before, const Email& after);
  void wake_for(const Email& email);
  void tend();
  PipelineLoop& loop(Pipeline pipeline);

  Ledger& ledger_;
  const base::Clock& clock_;
  const PipelinesOptions options_;
  const std::function<void()> tick_;
  Statistics statistics_;
  Leases leases_;
  Rescuer rescuer_;
  PipelineLoop callback_;
  PipelineLoop send_;
  PipelineLoop intake_;

  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;
  std::thread tender_;
};

}  // namespace postino::outbox
