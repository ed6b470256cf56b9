// Who may call an object store now. One that hangs or is away must not take the threads of those who call it: few wait
// for it at a time, and while it is known to be away, calls fail at once. One call at a time finds out whether it is
// back.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace postino::objects {

struct GateLimits {
  int places = 8;                  // calls at a time
  base::Milliseconds wait{500};    // for a place
  base::Milliseconds rest{5'000};  // after a failure, until the next call is let through
};

// Safe to use from any thread.
class CallGate {
 public:
  // A place. Given back by its destructor.
  class Pass {
   public:
    Pass(CallGate& gate, bool is_probe) : gate_(&gate), is_probe_(is_probe) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), is_probe_(other.is_probe_) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass();

    // It was away when this call was let through: the caller finds out whether it is back.
    bool is_probe() const { return is_probe_; }
    // What came of the call.
    void works();
    void fails(const std::string& why);

   private:
    CallGate* gate_;
    const bool is_probe_;
  };

  CallGate(GateLimits limits, const base::Clock& clock) : limits_(limits), clock_(clock) {}

  // exhausted: the store is away, or others wait for all places.
  base::Result<Pass> enter();
  bool is_away() const;

 private:
  void leave(bool was_probe);
  tl::unexpected<base::Error> away() const;

  const GateLimits limits_;
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool is_away_ = false;
  bool is_probed_ = false;  // now
  base::Milliseconds next_probe_{0};
  std::string why_;
};

}  // namespace postino::objects
