#include "outbox/work/destination_limits.h"

#include <algorithm>

namespace postino::outbox {

namespace {

constexpr std::size_t many_destinations = 10'000;
constexpr base::Milliseconds pause_when_full{500};
// A promise that was not used in this time is void: the process that got it may be gone.
constexpr base::Milliseconds promise_holds{60'000};

}  // namespace

std::optional<base::TimePoint> DestinationLimits::admit(const std::string& destination, const std::string& id,
                                                        base::TimePoint now) {
  if (rules_.concurrency == 0 && rules_.rate == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  forget_idle(now);
  Destination& state = destinations_[destination];
  if (now >= state.next_look) {
    std::erase_if(state.promised, [&](const auto& promise) { return promise.second + promise_holds < now; });
    state.next_look = now + promise_holds / 6;
  }
  if (rules_.concurrency > 0 && state.under_way >= rules_.concurrency) return now + pause_when_full;
  if (rules_.rate > 0) {
    const auto promise = state.promised.find(id);
    if (promise != state.promised.end() && promise->second > now) return promise->second;
    if (promise != state.promised.end()) {
      state.promised.erase(promise);
    } else {
      const Moment turn = std::max(state.next_free, Moment(now));
      state.next_free = turn + std::chrono::microseconds(static_cast<std::int64_t>(1'000'000 / rules_.rate));
      if (turn > now) return state.promised[id] = std::chrono::ceil<base::Milliseconds>(turn);
    }
  }
  ++state.under_way;
  return std::nullopt;
}

void DestinationLimits::done(const std::string& destination) {
  const std::lock_guard lock(mutex_);
  const auto found = destinations_.find(destination);
  if (found != destinations_.end() && found->second.under_way > 0) --found->second.under_way;
}

void DestinationLimits::take_back(const std::string& destination, const std::string& id, base::TimePoint now) {
  done(destination);
  const std::lock_guard lock(mutex_);
  const auto found = destinations_.find(destination);
  if (found != destinations_.end() && rules_.rate > 0) found->second.promised[id] = now;
}

void DestinationLimits::forget_idle(base::TimePoint now) {
  if (destinations_.size() < many_destinations) return;
  std::erase_if(destinations_, [&](const auto& each) {
    const Destination& state = each.second;
    return state.under_way == 0 && state.next_free <= now && state.promised.empty();
  });
}

}  // namespace postino::outbox
