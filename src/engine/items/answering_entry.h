// A commit entry that knows its answer, and the two ways to run a write: waiting for the disk, or being told.
#pragma once

#include <memory>
#include <utility>

#include "engine/catalog/core.h"
#include "store/store.h"

namespace postino::engine {

// The answer is worked out while planning and holds once the entry is on disk.
template <class Response>
struct AnsweringEntry : CommitEntry {
  store::Answer<Response> answer = Response{};
};

// How planning ended. An answer that rests on another write's outcome waits in the queue even when it changes nothing
// itself: a caller must not learn of a write that is not on disk yet.
enum class Planned { answered, queued };

// `plan` fills the entry's answer and queues the entry if need be.
template <class Response, class Plan>
store::Answer<Response> run_waiting(Core& core, const Plan& plan) {
  const auto entry = std::make_shared<AnsweringEntry<Response>>();
  if (plan(entry) == Planned::queued) TRY_VOID(core.queue->wait(entry));
  return std::move(entry->answer);
}

template <class Response, class Plan>
void run_later(const Plan& plan, store::Completion<Response> done) {
  const auto entry = std::make_shared<AnsweringEntry<Response>>();
  // The queue holds the entry while it calls this, so a plain pointer will do.
  entry->done = [raw = entry.get(), done](const base::Result<void>& outcome) {
    if (outcome)
      done(std::move(raw->answer));
    else
      done(base::propagate(store::Error(outcome.error())));
  };
  if (plan(entry) == Planned::answered) done(std::move(entry->answer));
}

}  // namespace postino::engine
