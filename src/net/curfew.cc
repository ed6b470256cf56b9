#include "net/curfew.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace postino::net {

Curfew::Curfew() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Curfew::begin_at(Deadline when) {
  when_ = when;
  const std::uint64_t one = 1;
  if (event_) static_cast<void>(!::write(event_.number(), &one, sizeof one));
}

}  // namespace postino::net
