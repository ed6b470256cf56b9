// Threads whose work can wait when others have more urgent work.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace postino::base {

// Of the calling thread, for good: beside busy threads it gets about a tenth of what they get, alone it gets
// everything.
inline void lower_thread_priority() {
  constexpr int niceness = 10;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);  // where it is refused nothing is lost
}

}  // namespace postino::base
