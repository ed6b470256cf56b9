#include "net/shutdown_deadline.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace postino::net {

ShutdownDeadline::ShutdownDeadline() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void ShutdownDeadline::begin_at(Deadline when) {
  when_ = when;
  const std::uint64_t one = 1;
  if (event_) static_cast<void>(!::write(event_.number(), &one, sizeof one));
}

}  // namespace postino::net
