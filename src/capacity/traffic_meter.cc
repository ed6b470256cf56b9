#include "capacity/traffic_meter.h"

#include <algorithm>
#include <ctime>
#include <map>

#include "item/json_codec.h"

namespace postino::capacity {

namespace {

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
  const bool reads = traffic.kind == read || traffic.kind == scan;
  const std::int64_t minute = second / 60;
  Minute& slot = part.last_hour[static_cast<std::size_t>(minute % minutes)];
  if (slot.number != minute) slot = {.number = minute};
  if (reads) {
    ++part.reads;
    part.read_halves += halves;
    slot.read_halves += halves;
    if (traffic.kind == scan) part.scan_halves += halves;
  } else {
    ++part.writes;
    part.write_halves += halves;
    slot.write_halves += halves;
    if (traffic.kind == failed_write) ++part.failed_writes;
  }
  if (traffic.partition && keeps_keys_)
    (reads ? part.read_keys : part.written_keys).add(traffic.partition->hash, traffic.partition->bytes, halves, second);
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
  for (HeavyHitters::Key& key : part.read_keys.keys()) counts.read_keys.push_back(std::move(key));
  for (HeavyHitters::Key& key : part.written_keys.keys()) counts.written_keys.push_back(std::move(key));
}

TrafficCounts Meter::counts() const {
  TrafficCounts counts;
  std::map<std::int64_t, Minute> sums;
  const std::int64_t oldest = second_() / 60 - minutes + 1;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    add_to(counts, part);
    for (const Minute& slot : part.last_hour) {
      if (slot.number < oldest) continue;
      Minute& sum = sums[slot.number];
      sum.read_halves += slot.read_halves;
      sum.write_halves += slot.write_halves;
    }
  }
  for (const auto& [number, sum] : sums) {
    counts.busiest_minute_read_halves = std::max(counts.busiest_minute_read_halves, sum.read_halves);
    counts.busiest_minute_write_halves = std::max(counts.busiest_minute_write_halves, sum.write_halves);
  }
  for (auto* const keys : {&counts.read_keys, &counts.written_keys})
    std::ranges::stable_sort(*keys, std::greater(), &HeavyHitters::Key::amount);
  const std::lock_guard lock(large_items_mutex_);
  counts.large_items = large_items_;
  return counts;
}

void Meter::restart() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    part.reads = part.writes = part.failed_writes = 0;
    part.read_halves = part.scan_halves = part.write_halves = 0;
    part.last_hour.fill({});
    part.read_keys.clear();
    part.written_keys.clear();
  }
  const std::lock_guard lock(large_items_mutex_);
  large_items_.clear();
}

}  // namespace postino::capacity
