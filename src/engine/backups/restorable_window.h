// The seconds that a table can be brought back to.
#pragma once

#include <optional>

#include "engine/catalog/core.h"

namespace postino::engine {

inline constexpr int longest_recovery_days = 35;

// Both are whole seconds. What a table was at the end of either is known.
struct RestorableWindow {
  base::TimePoint earliest;
  base::TimePoint latest;
};

// nullopt: the table has no point-in-time recovery.
std::optional<RestorableWindow> restorable_window(const Core& core, const Table& table);

}  // namespace postino::engine
