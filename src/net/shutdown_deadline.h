// A moment after which no client waits for servers any more: the process ends. Connections that share a shutdown
// deadline time out then, whatever deadline their callers gave, and even if they are waiting when it is set.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/descriptor.h"

namespace postino::net {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline deadline_in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// Safe to use from any thread.
class ShutdownDeadline {
 public:
  ShutdownDeadline();

  // Once.
  void begin_at(Deadline when);

  bool is_over() const { return std::chrono::steady_clock::now() >= when_.load(); }
  bool is_set() const { return when_.load() != Deadline::max(); }
  Deadline limit(Deadline deadline) const { return std::min(deadline, when_.load()); }
  // Becomes readable when the shutdown deadline is set, for those who wait for something else as well. -1: there is
  // none.
  int descriptor() const { return event_.number(); }

 private:
  std::atomic<Deadline> when_ = Deadline::max();
  const base::Descriptor event_;
};

}  // namespace postino::net
