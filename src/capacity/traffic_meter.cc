#include "capacity/traffic_meter.h"

#include <algorithm>
#include <ctime>

#include "item/json_codec.h"

namespace postino::capacity {

namespace {

constexpr std::int64_t seconds_per_minute = 60;

std::uint64_t halves_of(double units) { return static_cast<std::uint64_t>(units * 2); }

}  // namespace

std::int64_t coarse_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec;
}

Meter::Meter(store::TrafficSource source, SecondCount second, bool keeps_keys)
    : source_(std::move(source)), second_(std::move(second)), keeps_keys_(keeps_keys) {}

void Meter::count(const store::Traffic& traffic) {
  Part& part = parts_[traffic.partition ? traffic.partition->hash % part_count : 0];
  const std::int64_t second = second_();
  if (second / seconds_per_minute > minute_.load(std::memory_order_relaxed)) [[unlikely]]
    begin_minute(second / seconds_per_minute);
  {
    const std::lock_guard lock(part.mutex);
    add(part, traffic, second);
  }
  if (traffic.written_size >= large_item_bytes && keeps_keys_) [[unlikely]]
    note_large_item(traffic);
}

void Meter::add(Part& part, const store::Traffic& traffic, std::int64_t second) const {
  using enum store::TrafficKind;
  const std::uint64_t halves = halves_of(traffic.units);
  if (traffic.kind == backfill) {
    part.backfill_halves += halves;
    return;
  }
  const bool reads = traffic.kind == read || traffic.kind == scan;
  Minute& minute = part.minute;
  if (minute.number != second / seconds_per_minute) minute = {.number = second / seconds_per_minute};
  if (reads) {
    ++part.reads;
    part.read_halves += halves;
    minute.read_halves += halves;
    if (traffic.kind == scan) part.scan_halves += halves;
  } else {
    ++part.writes;
    part.write_halves += halves;
    minute.write_halves += halves;
    if (traffic.kind == failed_write) ++part.failed_writes;
  }
  if (traffic.partition && keeps_keys_)
    (reads ? part.read_keys : part.written_keys).add(traffic.partition->hash, traffic.partition->bytes, halves, second);
}

void Meter::begin_minute(std::int64_t number) {
  const std::lock_guard lock(busiest_mutex_);
  if (number <= minute_.load()) return;
  const Minute ended = sum_of_minute(minute_.load());
  busiest_.read_halves = std::max(busiest_.read_halves, ended.read_halves);
  busiest_.write_halves = std::max(busiest_.write_halves, ended.write_halves);
  minute_ = number;
}

Meter::Minute Meter::sum_of_minute(std::int64_t number) const {
  Minute sum{.number = number};
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    if (part.minute.number != number) continue;
    sum.read_halves += part.minute.read_halves;
    sum.write_halves += part.minute.write_halves;
  }
  return sum;
}

void Meter::note_large_item(const store::Traffic& traffic) {
  item::Key key;
  for (const std::string& name : source_.item_key)
    if (const item::AttributeValue* const value = traffic.written->find(name)) key.set(name, *value);
  std::string text = item::to_json(key);
  const std::lock_guard lock(large_items_mutex_);
  const auto found = std::ranges::find(large_items_, text, &LargeItem::key);
  if (found != large_items_.end())
    found->bytes = traffic.written_size;
  else
    large_items_.push_back({std::move(text), traffic.written_size});
  std::ranges::stable_sort(large_items_, std::greater(), &LargeItem::bytes);
  if (large_items_.size() > most_large_items) large_items_.pop_back();
}

void Meter::add_to(TrafficCounts& counts, const Part& part) {
  counts.reads += part.reads;
  counts.writes += part.writes;
  counts.failed_writes += part.failed_writes;
  counts.read_halves += part.read_halves;
  counts.scan_halves += part.scan_halves;
  counts.write_halves += part.write_halves;
  counts.backfill_halves += part.backfill_halves;
  for (HeavyHitters::Key& key : part.read_keys.keys()) counts.read_keys.push_back(std::move(key));
  for (HeavyHitters::Key& key : part.written_keys.keys()) counts.written_keys.push_back(std::move(key));
}

TrafficCounts Meter::counts() const {
  TrafficCounts counts;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    add_to(counts, part);
  }
  {
    const std::lock_guard lock(busiest_mutex_);
    const Minute last = sum_of_minute(minute_.load());
    counts.busiest_minute_read_halves = std::max(busiest_.read_halves, last.read_halves);
    counts.busiest_minute_write_halves = std::max(busiest_.write_halves, last.write_halves);
  }
  for (auto* const keys : {&counts.read_keys, &counts.written_keys})
    std::ranges::stable_sort(*keys, std::greater(), &HeavyHitters::Key::least);
  const std::lock_guard lock(large_items_mutex_);
  counts.large_items = large_items_;
  return counts;
}

void Meter::restart() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    part.reads = part.writes = part.failed_writes = 0;
    part.read_halves = part.scan_halves = part.write_halves = part.backfill_halves = 0;
    part.minute = {};
    part.read_keys.clear();
    part.written_keys.clear();
  }
  {
    const std::lock_guard lock(busiest_mutex_);
    busiest_ = {};
  }
  const std::lock_guard lock(large_items_mutex_);
  large_items_.clear();
}

}  // namespace postino::capacity
