// How long things take with Options::realistic_timing: about as long as on AWS, where that is bearable.
#pragma once

#include "base/clock.h"

namespace postino::engine::timing {

inline constexpr base::Milliseconds table_creation = std::chrono::seconds(3);
inline constexpr base::Milliseconds table_deletion = std::chrono::seconds(3);
inline constexpr base::Milliseconds throughput_change = base::Milliseconds(1'500);
inline constexpr base::Milliseconds billing_change = std::chrono::seconds(5);
inline constexpr base::Milliseconds class_change = std::chrono::seconds(5);
inline constexpr base::Milliseconds stream_change = std::chrono::seconds(4);
inline constexpr base::Milliseconds index_allocation = std::chrono::seconds(5);
inline constexpr base::Milliseconds index_deletion = std::chrono::seconds(5);
inline constexpr base::Milliseconds time_to_live_change = std::chrono::seconds(3);

// How far the latest time that a table can be restored to is behind.
inline constexpr base::Milliseconds recovery_lag = std::chrono::minutes(5);

// How soon something may be changed again.
inline constexpr base::Milliseconds time_to_live_cooldown = std::chrono::minutes(31);
inline constexpr base::Milliseconds resource_policy_cooldown = std::chrono::seconds(15);
inline constexpr base::Milliseconds deletion_protection_cooldown = std::chrono::seconds(15);

}  // namespace postino::engine::timing
