#include "app/console/signals.h"

#include <fcntl.h>

#include "base/descriptor.h"

namespace postino::app {

namespace {

bool has_terminal() { return static_cast<bool>(base::Descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC))); }

}  // namespace

Signals::Signals() : had_terminal_(has_terminal()) {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Signals::~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Signals::Order Signals::wait() const {
  int signal = 0;
  sigwait(&signals_, &signal);
  return signal == SIGHUP && has_terminal() == had_terminal_ ? Order::reload : Order::end;
}

bool Signals::pause(std::chrono::milliseconds time) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const timespec limit{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
  const int signal = sigtimedwait(&signals_, nullptr, &limit);
  return signal != SIGTERM && signal != SIGINT;
}

void Signals::release() {
  sigdelset(&signals_, SIGHUP);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

}  // namespace postino::app
