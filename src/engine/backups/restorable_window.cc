#include "engine/backups/restorable_window.h"

#include <algorithm>

#include "engine/tables/table_timing.h"

namespace postino::engine {

namespace {

base::TimePoint whole_second(base::TimePoint time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace

std::optional<RestorableWindow> restorable_window(const Core& core, const Table& table) {
  if (!table.recovery) return std::nullopt;
  const PointInTimeRecovery& recovery = *table.recovery;
  RestorableWindow window;
  window.earliest =
      std::max(recovery.enabled_at, base::TimePoint(core.now() - std::chrono::days(recovery.period_days)));
  // The end of a second is known by the records behind it.
  if (recovery.trimmed_until)
    window.earliest = std::max(window.earliest, base::TimePoint(*recovery.trimmed_until - std::chrono::seconds(1)));
  window.earliest = whole_second(window.earliest);
  base::TimePoint latest = core.queue->commit_time();
  if (core.options.realistic_timing) latest -= timing::recovery_lag;
  window.latest = std::max(window.earliest, whole_second(latest));
  return window;
}

}  // namespace postino::engine
