// The table of metrics: what its items are called. The first three are the seed's, for programs that read them.
//
// metric_name                              attributes
// tickets_by_status#{status}               count_value
// avg_resolution_time                      count_value, total_time: tickets that are READY, and their seconds
// customer_satisfaction                    count_value, total_ratings
// emails_by_state#{state}                  count_value
// reminders_by_status#{status}             count_value
// reminders_by_type#{type}                 count_value
// history#{source}#minutes#{2026-11-17T23} "07 tickets_created", "07 tickets_resolved total" ...: what happened in each
//                                          minute of an hour; kept for a day
// history#{source}#hours#{2026-11-17}      the same in each hour of a day; kept for 90 days
// checkpoint#{follower}                    how far a table's stream was followed, and by whom (follow/checkpoint.h)
// set-aside#{follower}#{sequence number}   a change that could not be handled (follow/set_aside.h)
//
// Of a tenant, the name begins with "TENANT#{tenant}#". The tenant "*" stands for all tenants together, without the
// company itself. Figures and history name their source in `source`.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "item/value.h"

namespace postino::metrics {

inline constexpr std::string_view name_attribute = "metric_name";
inline constexpr std::string_view count_attribute = "count_value";
inline constexpr std::string_view source_attribute = "source";
inline constexpr std::string_view metrics_ttl = "ttl";
inline constexpr std::string_view all_tenants = "*";

inline constexpr base::Milliseconds minutes_kept = std::chrono::hours(24);
inline constexpr base::Milliseconds hours_kept = std::chrono::hours(24 * 90);

std::string figure_name(std::string_view tenant, std::string_view name);
// Where the sum of a figure is: "total_time".
std::string_view total_attribute(std::string_view name);

enum class Unit { minutes, hours };
// What a history item covers, and what it is divided into.
base::Milliseconds span_of(Unit unit);  // an hour; a day
base::Milliseconds slot_of(Unit unit);  // a minute; an hour
base::Milliseconds kept_of(Unit unit);
base::TimePoint span_begin(Unit unit, base::TimePoint time);

std::string history_name(std::string_view tenant, std::string_view source, Unit unit, base::TimePoint begin);
// "07 tickets_created": the attribute of the slot with this number, and the one of its sum.
std::string slot_attribute(int slot, std::string_view event);
std::string slot_total_attribute(int slot, std::string_view event);

// Does a moment belong into the history now? What lies in the future by more than a day is some program's mistake.
bool is_kept(Unit unit, base::TimePoint time, base::TimePoint now);

item::Key metric_key(std::string name);

}  // namespace postino::metrics
