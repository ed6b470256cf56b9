#include "engine/upkeep/clock_watch.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/plausible_clock.h"
#include "base/timestamp.h"

namespace postino::engine {

namespace {

constexpr const char* last_seen_key = "last-seen";  // in the column family `default`
constexpr base::Milliseconds patience = std::chrono::hours(1);
constexpr base::Milliseconds noted_every = std::chrono::minutes(5);

base::Result<std::optional<base::TimePoint>> read_last_seen(const Core& core) {
  TRY(const auto value, core.database->get(Family::meta, last_seen_key));
  if (!value) return std::nullopt;
  if (value->size() != sizeof(std::uint64_t))
    return base::fail(base::ErrorCode::corrupt, "the time when the store was last open is damaged");
  return base::from_epoch_milliseconds(static_cast<std::int64_t>(base::load_big_endian<std::uint64_t>(value->data())));
}

}  // namespace

base::Result<void> tell_clock_of_last_time(Core& core) {
  TRY(const auto last_seen, read_last_seen(core));
  if (last_seen) core.options.clock->note_past(*last_seen);
  return {};
}

base::Result<void> ClockWatch::begin(base::TimePoint now) {
  TRY(const auto last_seen, read_last_seen(core_));
  seen_ = last_seen.value_or(now);
  return {};
}

base::Result<void> ClockWatch::note(base::TimePoint now) {
  std::string bytes;
  base::append_big_endian(bytes, static_cast<std::uint64_t>(base::epoch_milliseconds(now)));
  auto entry = std::make_shared<CommitEntry>();
  entry->put(Family::meta, last_seen_key, std::move(bytes));
  core_.queue->enqueue(entry);
  return core_.queue->wait(entry);
}

store::Answer<bool> ClockWatch::run_once() {
  const base::Milliseconds passed = core_.options.clock->monotonic();
  const base::TimePoint now = core_.now();
  if (!seen_) {
    TRY_VOID(begin(now));
    seen_at_ = passed;
  }
  const base::TimePoint expected = *seen_ + (passed - seen_at_);
  if (now - expected > base::notable_clock_gap) {
    wait_until_ = passed + patience;
    base::log_warning("maintenance", "the clock is far ahead of the last time it was seen: nothing expires for an hour",
                      {{"now", base::format_timestamp(now)}, {"last_seen", base::format_timestamp(expected)}});
  }
  seen_ = now;
  seen_at_ = passed;
  is_trusted_ = passed >= wait_until_;
  // What may be wrong is not written down: the next process would take it for granted.
  if (!is_trusted_ || (noted_at_ && passed - *noted_at_ < noted_every)) return false;
  TRY_VOID(note(now));
  noted_at_ = passed;
  return false;
}

}  // namespace postino::engine
