// The thread that keeps the objects of a table in order.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "base/swappable.h"
#include "base/this_thread.h"
#include "objects/object_cleaner.h"

namespace postino::objects {

class ObjectUpkeep {
 public:
  // Begins at once. The cleaner must outlive it, and no other thread uses it meanwhile.
  explicit ObjectUpkeep(ObjectCleaner& cleaner);
  // Returns within a second or so, or when a call to the object store that is under way has ended.
  ~ObjectUpkeep();
  ObjectUpkeep(const ObjectUpkeep&) = delete;
  ObjectUpkeep& operator=(const ObjectUpkeep&) = delete;

  // Why nothing could be cleaned at the last attempt; nullopt when it could. Any thread.
  std::optional<std::string> problem() const;
  CleanerCounts counts() const;

 private:
  void run();
  void note(const std::string& problem);

  ObjectCleaner& cleaner_;
  base::Pause pause_;
  std::atomic<bool> is_ending_ = false;
  base::Swappable<std::string> problem_;
  base::Swappable<CleanerCounts> counts_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace postino::objects
