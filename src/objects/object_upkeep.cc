#include "objects/object_upkeep.h"

#include <memory>

#include "base/log.h"

namespace postino::objects {

namespace {

constexpr base::Milliseconds following_patience{500};
constexpr base::Milliseconds pause_after_trouble = std::chrono::seconds(30);
constexpr base::Milliseconds pause_without_stream = std::chrono::seconds(1);
constexpr int swept_at_once = 100;

}  // namespace

ObjectUpkeep::ObjectUpkeep(ObjectCleaner& cleaner) : cleaner_(cleaner), thread_([this] { run(); }) {}

ObjectUpkeep::~ObjectUpkeep() {
  is_ending_ = true;
  pause_.end();
  thread_.join();
}

std::optional<std::string> ObjectUpkeep::problem() const {
  const auto problem = problem_.get();
  return problem ? std::optional(*problem) : std::nullopt;
}

CleanerCounts ObjectUpkeep::counts() const {
  const auto counts = counts_.get();
  return counts ? *counts : CleanerCounts();
}

// A trouble that lasts is told once.
void ObjectUpkeep::note(const std::string& problem) {
  const auto before = problem_.get();
  if (!before || *before != problem) base::log_warning("objects", "objects are not cleaned up", {{"cause", problem}});
  problem_.set(std::make_shared<std::string>(problem));
}

void ObjectUpkeep::run() {
  base::name_thread("objects");
  base::lower_thread_priority();
  while (!is_ending_) {
    const auto followed = cleaner_.follow_once(following_patience);
    const auto swept = cleaner_.sweep_some(swept_at_once);
    counts_.set(std::make_shared<CleanerCounts>(cleaner_.counts()));
    if (followed && swept) {
      problem_.set(nullptr);
      if (*followed == 0 && *swept == 0) pause_.wait(pause_without_stream);
      continue;
    }
    note(!followed ? followed.error().message : swept.error().message);
    // Where only sweeps fail, the stream is followed as before.
    if (!followed || *followed == 0) pause_.wait(followed ? pause_without_stream : pause_after_trouble);
  }
  (void)cleaner_.save_position();
}

}  // namespace postino::objects
