#include "engine/streams/stream_subscription.h"

#include <algorithm>

#include "engine/streams/stream_reader.h"
#include "engine/streams/stream_shards.h"

namespace postino::engine {

namespace {

using SteadyClock = std::chrono::steady_clock;

// Far enough to be for ever, near enough not to overflow the clock.
constexpr base::Milliseconds longest_wait = std::chrono::hours(24 * 365);

}  // namespace

store::Answer<std::vector<store::StreamRecord>> StreamSubscription::next(int limit, base::Milliseconds timeout) {
  const SteadyClock::time_point until = SteadyClock::now() + std::min(timeout, longest_wait);
  while (true) {
    // Before the look at the disk: what is announced after this ends the wait below.
    const std::uint64_t seen = core_.queue->stream_signal().announcements();
    if (closed_) return std::vector<store::StreamRecord>();
    TRY(std::vector<store::StreamRecord> records, read(std::clamp(limit, 1, store::max_records_per_read)));
    if (!records.empty() || SteadyClock::now() >= until) return records;
    core_.queue->stream_signal().wait(seen, until);
  }
}

store::Answer<std::vector<store::StreamRecord>> StreamSubscription::read(int limit) {
  StreamReader reader(core_, stream_);
  const auto ended = [] {
    return store::refuse(store::ErrorType::resource_not_found, "Requested resource not found: The stream has ended");
  };
  if (reader.stream() == nullptr) return ended();
  TRY(const bool trimmed, reader.trimmed(position_, no_end));
  if (trimmed) return trimmed_data();
  TRY(StreamReader::Page page, reader.read(position_, no_end, limit));
  if (page.records.empty() && !reader.stream()->enabled && reader.settled() >= end_of(reader.stream()->shards.back()))
    return ended();
  position_ = page.next;
  reached_ = page.complete ? reader.settled() : position_;
  return std::move(page.records);
}

store::StreamPlace StreamSubscription::place() const {
  return store::place_in_sequence(arn_, shown_number(position_ > 0 ? position_ - 1 : 0));
}

// A write is seen only after it was queued, which gave its records their numbers.
store::Answer<store::StreamMoment> StreamSubscription::present_end() {
  return store::StreamMoment{.number = shown_number(core_.queue->next_sequence_number())};
}

bool StreamSubscription::has_passed(const store::StreamMoment& moment) const {
  return shown_number(std::max(reached_, position_)) >= moment.number;
}

void StreamSubscription::close() {
  closed_ = true;
  core_.queue->stream_signal().announce();
}

}  // namespace postino::engine
