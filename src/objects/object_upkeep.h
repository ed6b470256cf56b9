// The thread that keeps the objects of a table in order.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/swappable.h"
#include "base/this_thread.h"
#include "net/trouble.h"
#include "objects/object_cleaner.h"

namespace postino::objects {

class ObjectUpkeep {
 public:
  // Begins at once. After trouble it pauses. The cleaner must outlive it, and no other thread uses it meanwhile.
  explicit ObjectUpkeep(ObjectCleaner& cleaner, base::Milliseconds pause_after_trouble = std::chrono::seconds(30));
  // Returns when a call to the object store that is under way has ended.
  ~ObjectUpkeep();
  ObjectUpkeep(const ObjectUpkeep&) = delete;
  ObjectUpkeep& operator=(const ObjectUpkeep&) = delete;

  // Why nothing could be cleaned at the last attempt; nullopt when it could. Any thread.
  std::optional<std::string> problem() const { return trouble_.cause(); }
  CleanerCounts counts() const;

 private:
  void run();

  ObjectCleaner& cleaner_;
  const base::Milliseconds pause_after_trouble_;
  base::Pause pause_;
  std::atomic<bool> is_ending_ = false;
  net::LastingTrouble trouble_;
  base::Swappable<CleanerCounts> counts_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace postino::objects
