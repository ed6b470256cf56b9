#include "engine/storage/empty_ranges.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace postino::engine {

EmptyRanges::Watch::Watch(EmptyRanges& ranges, const KeyRange& range) : ranges_(ranges), range_(range) {
  const std::lock_guard lock(ranges_.mutex_);
  parts_ = ranges_.without_empty(range_);
  place_ = ranges_.watches_.insert(ranges_.watches_.end(), this);
}

EmptyRanges::Watch::~Watch() {
  const std::lock_guard lock(ranges_.mutex_);
  ranges_.watches_.erase(place_);
}

// Keys are put at the end of queues and listings: what is below the first of them is worth more than what is above.
void EmptyRanges::Watch::found_empty(KeyRange range) {
  const std::lock_guard lock(ranges_.mutex_);
  if (puts_.size() > most_puts) return;
  for (const std::string& key : puts_)
    if (key >= range.lower && key < range.upper) range.upper = key;
  if (range.lower < range.upper) ranges_.add(std::move(range));
}

// The mutex of the ranges is held.
void EmptyRanges::Watch::note_put(std::string_view key) {
  if (puts_.size() <= most_puts && key >= range_.lower && key < range_.upper) puts_.emplace_back(key);
}

void EmptyRanges::note_puts(const std::vector<std::string_view>& keys) {
  const std::lock_guard lock(mutex_);
  if (ranges_.empty() && watches_.empty()) return;
  for (const std::string_view key : keys) {
    cut(key);
    for (Watch* watch : watches_) watch->note_put(key);
  }
}

std::size_t EmptyRanges::count() const {
  const std::lock_guard lock(mutex_);
  return ranges_.size();
}

// The mutex is held.
std::vector<KeyRange> EmptyRanges::without_empty(const KeyRange& range) const {
  std::vector<KeyRange> parts;
  std::string next = range.lower;
  auto empty = ranges_.upper_bound(next);
  if (empty != ranges_.begin()) --empty;  // it may reach into the range
  for (; empty != ranges_.end() && empty->first < range.upper; ++empty) {
    if (empty->second <= next) continue;
    if (empty->first > next) parts.push_back({next, empty->first});
    next = empty->second;
  }
  if (next < range.upper) parts.push_back({std::move(next), range.upper});
  return parts;
}

// There is a key now. The mutex is held.
void EmptyRanges::cut(std::string_view key) {
  auto empty = ranges_.upper_bound(key);
  if (empty == ranges_.begin()) return;
  --empty;
  if (empty->second <= key) return;
  if (empty->first == key)
    ranges_.erase(empty);
  else
    empty->second = key;
}

// Together with those that it touches. The mutex is held.
void EmptyRanges::add(KeyRange range) {
  auto empty = ranges_.upper_bound(range.lower);
  if (empty != ranges_.begin() && std::prev(empty)->second >= range.lower) --empty;
  while (empty != ranges_.end() && empty->first <= range.upper) {
    range.lower = std::min(range.lower, empty->first);
    range.upper = std::max(range.upper, empty->second);
    empty = ranges_.erase(empty);
  }
  if (ranges_.size() >= most_ranges) ranges_.clear();  // readers find out again which matter
  ranges_.emplace(std::move(range.lower), std::move(range.upper));
}

}  // namespace postino::engine
