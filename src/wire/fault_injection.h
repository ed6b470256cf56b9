// Faults on purpose: a client can be shown how it stands throttling, errors and latency. Off unless configured.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/protocol/reply.h"

namespace postino::wire {

struct FaultInjection {
  double throttle = 0;  // share of the requests that are throttled, 0 to 1
  double error = 0;     // share of the requests that fail with InternalServerError; nothing was done for them
  std::chrono::milliseconds latency{0};  // added to every answer

  // From a text such as "throttle=0.01,error=0.001,latency=20ms".
  static base::Result<FaultInjection> parse(std::string_view text);
  // The text that parse() makes this of; empty when nothing is injected.
  std::string text() const;
};

class DelayedCalls;
struct Operation;

// Safe to use from any thread.
class FaultInjector {
 public:
  explicit FaultInjector(FaultInjection faults);
  // Calls that still wait are made at once.
  ~FaultInjector();

  bool active() const { return active_; }
  // The fault that this request meets instead of being performed, if any.
  std::optional<Reply> choose(const Operation& operation) const;
  // Calls now, or when the latency has passed.
  void after_latency(std::function<void()> call);

 private:
  FaultInjection faults_;
  bool active_ = false;
  std::unique_ptr<DelayedCalls> delayed_;
};

}  // namespace postino::wire
