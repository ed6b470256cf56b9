#include "app/pause.h"

#include <condition_variable>
#include <mutex>

namespace postino::app {

void pause(base::Milliseconds duration) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, duration, [] { return false; });
}

}  // namespace postino::app
