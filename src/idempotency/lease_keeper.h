// Keeps the leases of executions for as long as they take.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "idempotency/guard.h"

namespace postino::idempotency {

// Safe to use from any thread. A thread of its own renews what has used up a third of its lease.
class LeaseKeeper {
 public:
  // Both must outlive it.
  LeaseKeeper(Guard& guard, const base::Clock& clock);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // The lease is kept until this goes away, which must be before the keeper does.
  class Hold {
   public:
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    // Another process has taken the execution over: what is left of this one must have no effect any more.
    bool is_lost() const { return lost_; }

    // To be called before an effect that cannot be taken back: this process may have been stopped for longer than its
    // lease. If two thirds of it have passed by the clock that cannot be set, it is renewed first. Fails with
    // conditional_check_failed when another process has taken the execution over.
    store::Answer<void> confirm();

   private:
    friend class LeaseKeeper;
    Hold(LeaseKeeper& keeper, Record record, base::Milliseconds renewed)
        : keeper_(keeper), record_(std::move(record)), renewed_(renewed) {}

    LeaseKeeper& keeper_;
    Record record_;               // the keeper's: key, owner and lease; guarded by its mutex
    base::Milliseconds renewed_;  // when the lease was granted, or a little before; monotonic; guarded, too
    std::atomic<bool> lost_ = false;
  };
  std::unique_ptr<Hold> hold(const Record& record);

  void renew_once();

 private:
  void run();
  store::Answer<void> renew(Hold& hold, std::unique_lock<std::mutex>& lock);

  Guard& guard_;
  const base::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Hold*> held_;
  Hold* renewing_ = nullptr;  // must not go away now
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::idempotency
