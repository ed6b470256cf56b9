#include "capacity/traffic_watch.h"

#include <cmath>

namespace postino::capacity {

TrafficWatch::TrafficWatch(const base::Clock& clock, SecondCount second)
    : clock_(clock),
      second_(std::move(second)),
      others_(std::make_shared<Meter>(store::TrafficSource(), second_, false)),
      since_(clock.now()),
      began_(clock.monotonic()) {}

std::shared_ptr<store::TrafficMeter> TrafficWatch::meter(store::TrafficSource source) {
  Name name(source.table, source.index);
  const std::lock_guard lock(mutex_);
  // A table that was made again may have other keys: what was counted before was of another one.
  meters_.erase(name);
  // Tables and indexes that are gone are not counted for any more.
  if (meters_.size() >= most_meters)
    std::erase_if(meters_, [](const auto& each) { return each.second.meter.use_count() == 1; });
  if (meters_.size() >= most_meters) return others_;
  auto meter = std::make_shared<Meter>(std::move(source), second_);
  meters_.emplace(std::move(name), Metered{meter, clock_.now()});
  return meter;
}

void TrafficWatch::count_call(std::string_view operation, const std::string& table, double read_units,
                              double write_units) {
  const std::lock_guard lock(mutex_);
  Name name(operation, table);
  if (operations_.size() >= most_operations && !operations_.contains(name)) name = {"others", ""};
  Operation& counted = operations_[name];
  counted.operation = name.first;
  counted.table = name.second;
  counted.read_halves += static_cast<std::uint64_t>(std::llround(2 * read_units));
  counted.write_halves += static_cast<std::uint64_t>(std::llround(2 * write_units));
}

TrafficWatch::Sighting TrafficWatch::look() const {
  Sighting sighting;
  std::vector<Metered> meters;
  {
    const std::lock_guard lock(mutex_);
    sighting.since = since_;
    sighting.elapsed = clock_.monotonic() - began_;
    for (const auto& [name, metered] : meters_) meters.push_back(metered);
    for (const auto& [name, operation] : operations_) sighting.operations.push_back(operation);
  }
  sighting.until = clock_.now();
  sighting.stream_reads = stream_reads_.load(std::memory_order_relaxed);
  for (const auto& [meter, since] : meters) sighting.sources.push_back({meter->source(), since, meter->counts()});
  sighting.others = others_->counts();
  return sighting;
}

void TrafficWatch::restart() {
  const std::lock_guard lock(mutex_);
  since_ = clock_.now();
  for (auto& [name, metered] : meters_) {
    metered.meter->restart();
    metered.since = since_;
  }
  operations_.clear();
  others_->restart();
  stream_reads_ = 0;
  began_ = clock_.monotonic();
}

}  // namespace postino::capacity
