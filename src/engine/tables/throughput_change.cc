#include "engine/tables/throughput_change.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/rules/throughput_rules.h"
#include "engine/tables/table_definition.h"

namespace postino::engine {

namespace {

constexpr int free_decreases_per_day = 4;
constexpr auto decrease_interval = std::chrono::hours(1);

std::chrono::sys_days day_of(base::TimePoint time) { return std::chrono::floor<std::chrono::days>(time); }

// "Friday, October 9, 2026 at 12:21:34 AM Coordinated Universal Time".
std::string long_text(base::TimePoint time) {
  static constexpr std::array weekdays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  static constexpr std::array months = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
  const std::chrono::sys_days day = day_of(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  const auto hour = static_cast<int>(clock.hours().count());
  char text[128];
  std::snprintf(text, sizeof text, "%s, %s %u, %d at %d:%02d:%02d %s Coordinated Universal Time",
                weekdays[std::chrono::weekday(day).c_encoding()], months[static_cast<unsigned>(date.month()) - 1],
                static_cast<unsigned>(date.day()), static_cast<int>(date.year()), hour % 12 == 0 ? 12 : hour % 12,
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                hour < 12 ? "AM" : "PM");
  return text;
}

store::Answer<void> check_decrease(const store::ThroughputDescription& throughput, base::TimePoint now) {
  const int decreases = decreases_today(throughput, now);
  if (decreases < free_decreases_per_day) return {};
  const base::TimePoint last = *throughput.last_decrease;
  if (now - last >= decrease_interval) return {};
  const base::TimePoint midnight = day_of(now) + std::chrono::days(1);
  const base::TimePoint next = std::min<base::TimePoint>(last + decrease_interval, midnight);
  return store::refuse(
      store::ErrorType::limit_exceeded,
      "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the first "
      "4 decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 seconds. "
      "Number of decreases today: " +
          std::to_string(decreases) + ". Last decrease at " + long_text(last) + ". Next decrease can be made at " +
          long_text(next));
}

store::Error no_change(const store::Throughput& current, const store::Throughput& wanted,
                       const std::string& index_name) {
  const std::string subject = index_name.empty() ? "the table" : "the index " + index_name;
  const std::string place = index_name.empty() ? "the table" : "index " + index_name;
  const auto clause = [&](const std::string& name, std::int64_t old_units, std::int64_t new_units) {
    return "Current " + name + " provisioned for " + place + ": " + std::to_string(old_units) + ". Requested " + name +
           ": " + std::to_string(new_units) + ". ";
  };
  return {store::ErrorType::validation,
          "The provisioned throughput for " + subject +
              " will not change. The requested value equals the current value. " +
              clause("ReadCapacityUnits", current.read_units, wanted.read_units) +
              clause("WriteCapacityUnits", current.write_units, wanted.write_units) +
              "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."};
}

void count_decrease(store::ThroughputDescription& throughput, base::TimePoint now) {
  throughput.decreases_today = decreases_today(throughput, now) + 1;
  throughput.last_decrease = now;
}

}  // namespace

int decreases_today(const store::ThroughputDescription& throughput, base::TimePoint now) {
  const bool today = throughput.last_decrease && day_of(*throughput.last_decrease) == day_of(now);
  return today ? throughput.decreases_today : 0;
}

store::Answer<void> change_provisioned(store::ThroughputDescription& throughput, const store::Throughput& wanted,
                                       const std::string& index_name, base::TimePoint now) {
  const store::Throughput& current = throughput.provisioned;
  if (wanted == current) return tl::unexpected(no_change(current, wanted, index_name));
  const bool lower = wanted.read_units < current.read_units || wanted.write_units < current.write_units;
  const bool higher = wanted.read_units > current.read_units || wanted.write_units > current.write_units;
  if (lower) {
    TRY_VOID(check_decrease(throughput, now));
    count_decrease(throughput, now);
  }
  if (higher) throughput.last_increase = now;
  throughput.provisioned = wanted;
  return {};
}

void switch_to_pay_per_request(Table& table, base::TimePoint now) {
  table.billing_mode = store::BillingMode::pay_per_request;
  table.last_switch_to_pay_per_request = now;
  table.throughput.provisioned = {};
  raise_warm(table.warm, initial_on_demand);
  for (Index& index : table.indexes) {
    if (!index.global) continue;
    index.throughput.provisioned = {};
    // DynamoDB counts the switch against the indexes, not against the table.
    count_decrease(index.throughput, now);
    raise_warm(index.warm, initial_on_demand);
  }
}

void switch_to_provisioned(Table& table) {
  table.billing_mode = store::BillingMode::provisioned;
  table.on_demand.reset();
  for (Index& index : table.indexes) index.on_demand.reset();
}

void change_on_demand(std::optional<store::OnDemandThroughput>& ceilings, const store::OnDemandThroughput& wanted) {
  constexpr std::int64_t no_ceiling = -1;
  store::OnDemandThroughput changed = ceilings.value_or(store::OnDemandThroughput{});
  const auto apply = [](std::optional<std::int64_t>& ceiling, const std::optional<std::int64_t>& units) {
    if (!units) return;
    ceiling = *units == no_ceiling ? std::nullopt : units;
  };
  apply(changed.max_read_units, wanted.max_read_units);
  apply(changed.max_write_units, wanted.max_write_units);
  const bool none = !changed.max_read_units && !changed.max_write_units;
  ceilings = none ? std::nullopt : std::optional(changed);
}

}  // namespace postino::engine
