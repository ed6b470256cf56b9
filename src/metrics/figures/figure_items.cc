#include "metrics/figures/figure_items.h"

#include "access/caller_scope.h"
#include "base/timestamp.h"

namespace postino::metrics {

using std::chrono::hours;
using std::chrono::minutes;

std::string figure_name(std::string_view tenant, std::string_view name) {
  access::CallerScope::check(tenant);
  std::string text;
  if (!tenant.empty()) text.append("TENANT#").append(tenant).append("#");
  return text.append(name);
}

std::string_view total_attribute(std::string_view name) {
  if (name == "avg_resolution_time") return "total_time";
  if (name == "customer_satisfaction") return "total_ratings";
  return "total_value";
}

base::Milliseconds span_of(Unit unit) { return unit == Unit::minutes ? hours(1) : hours(24); }
base::Milliseconds slot_of(Unit unit) { return unit == Unit::minutes ? base::Milliseconds(minutes(1)) : hours(1); }
base::Milliseconds kept_of(Unit unit) { return unit == Unit::minutes ? minutes_kept : hours_kept; }

base::TimePoint span_begin(Unit unit, base::TimePoint time) {
  const std::int64_t span = span_of(unit).count();
  const std::int64_t since = base::epoch_milliseconds(time);
  return base::from_epoch_milliseconds(since - ((since % span) + span) % span);
}

std::string history_name(std::string_view tenant, std::string_view source, Unit unit, base::TimePoint begin) {
  constexpr std::size_t hour_length = 13, day_length = 10;  // "2026-11-17T23", "2026-11-17"
  std::string name = "history#";
  name.append(source).append(unit == Unit::minutes ? "#minutes#" : "#hours#");
  name += base::format_timestamp(begin).substr(0, unit == Unit::minutes ? hour_length : day_length);
  return figure_name(tenant, name);
}

std::string slot_attribute(int slot, std::string_view event) {
  std::string name = slot < 10 ? "0" : "";
  return name.append(std::to_string(slot)).append(" ").append(event);
}

std::string slot_total_attribute(int slot, std::string_view event) { return slot_attribute(slot, event) + " total"; }

bool is_kept(Unit unit, base::TimePoint time, base::TimePoint now) {
  return span_begin(unit, time) + span_of(unit) + kept_of(unit) > now && time < now + hours(24);
}

item::Key metric_key(std::string name) { return {{std::string(name_attribute), std::move(name)}}; }

}  // namespace postino::metrics
