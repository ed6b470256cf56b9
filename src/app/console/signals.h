// The signals that tell a server to end, or to read its settings again.
#pragma once

#include <chrono>
#include <csignal>

namespace postino::app {

// Taken by one thread alone: make this before there are others.
class Signals {
 public:
  enum class Order { end, reload };

  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // SIGHUP also says that the terminal was closed that the process was started in.
  Order wait() const;

  // Waits so long, and not for what has not begun yet to be reloaded. False when the process is told to end.
  bool pause(std::chrono::milliseconds time) const;

  // From now on a signal to end does so at once; there is nothing to reload any more.
  void release();

 private:
  const bool had_terminal_;
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace postino::app
