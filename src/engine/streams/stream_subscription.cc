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
    if (!records.empty()) position_ = records.back().sequence_number + 1;
    if (!records.empty() || SteadyClock::now() >= until) return records;
    core_.queue->stream_signal().wait(seen, until);
  }
}

store::Answer<std::vector<store::StreamRecord>> StreamSubscription::read(int limit) const {
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
  return std::move(page.records);
}

// A write is seen only after it was queued, which gave its records their numbers.
store::Answer<std::optional<store::SequenceNumber>> StreamSubscription::present_end() {
  return std::optional(core_.queue->next_sequence_number());
}

void StreamSubscription::close() {
  closed_ = true;
  core_.queue->stream_signal().announce();
}

}  // namespace postino::engine
