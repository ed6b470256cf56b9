#include "engine/upkeep/clock_watch.h"

#include "base/bytes.h"

namespace postino::engine {

namespace {

constexpr const char* last_seen_key = "last-seen";  // in the column family `default`

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

base::Result<void> ClockWatch::note(base::TimePoint now) {
  std::string bytes;
  base::append_big_endian(bytes, static_cast<std::uint64_t>(base::epoch_milliseconds(now)));
  auto entry = std::make_shared<CommitEntry>();
  entry->put(Family::meta, last_seen_key, std::move(bytes));
  core_.queue->enqueue(entry);
  return core_.queue->wait(entry);
}

store::Answer<bool> ClockWatch::run_once() {
  if (!has_begun_) {
    TRY(const auto last_seen, read_last_seen(core_));
    if (last_seen) ages_.begin(*last_seen);
    has_begun_ = true;
  }
  ages_.look();
  if (const auto now = ages_.to_note()) {
    TRY_VOID(note(*now));
    ages_.noted();
  }
  return false;
}

}  // namespace postino::engine
