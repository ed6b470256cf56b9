#include "objects/object_upkeep.h"

#include <memory>

#include "base/log.h"

namespace postino::objects {

namespace {

constexpr base::Milliseconds following_patience{500};
constexpr base::Milliseconds pause_without_stream = std::chrono::seconds(1);
constexpr int swept_at_once = 100;

}  // namespace

ObjectUpkeep::ObjectUpkeep(ObjectCleaner& cleaner, base::Milliseconds pause_after_trouble)
    : cleaner_(cleaner), pause_after_trouble_(pause_after_trouble), thread_([this] { run(); }) {}

ObjectUpkeep::~ObjectUpkeep() {
  is_ending_ = true;
  pause_.end();
  cleaner_.stop_waiting();
  thread_.join();
}

CleanerCounts ObjectUpkeep::counts() const {
  const auto counts = counts_.get();
  return counts ? *counts : CleanerCounts();
}

void ObjectUpkeep::run() {
  base::name_thread("objects");
  base::lower_thread_priority();
  while (!is_ending_) {
    const auto followed = cleaner_.follow_once(following_patience);
    const auto swept = cleaner_.sweep_some(swept_at_once);
    counts_.set(std::make_shared<CleanerCounts>(cleaner_.counts()));
    if (followed && swept) {
      if (trouble_.works()) base::log_info("objects", "objects are cleaned up again");
      if (*followed == 0 && *swept == 0) pause_.wait(pause_without_stream);
      continue;
    }
    const std::string& cause = followed ? swept.error().message : followed.error().message;
    if (trouble_.fails(cause)) base::log_warning("objects", "objects are not cleaned up", {{"cause", cause}});
    // Where only sweeps fail, the stream is followed as before.
    if (!followed || *followed == 0) pause_.wait(followed ? pause_without_stream : pause_after_trouble_);
  }
  (void)cleaner_.save_position();
  cleaner_.leave();
}

}  // namespace postino::objects
