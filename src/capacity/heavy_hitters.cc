#include "capacity/heavy_hitters.h"

#include <algorithm>

namespace postino::capacity {

namespace {

// To take the place of another key costs many times as much as to count. So a key that is not counted is looked at by
// chance: of small amounts one in many, and of large ones each. A key that gets much is soon looked at.
bool is_looked_at(std::uint64_t amount) {
  constexpr std::uint64_t factor = 6'364'136'223'846'793'005, step = 1'442'695'040'888'963'407;
  thread_local std::uint64_t state = step;
  state = state * factor + step;
  return state >> 58 < amount;  // of 64
}

}  // namespace

std::size_t HeavyHitters::find(std::uint32_t hash, std::string_view kept) const {
  for (std::size_t i = 0; i < counters_.size(); ++i)
    if (hashes_[i] == hash && counters_[i].key.bytes == kept) return i;
  return counters_.size();
}

std::size_t HeavyHitters::place_for(std::uint32_t hash, std::string_view bytes) {
  const std::string_view kept = bytes.substr(0, most_key_bytes);
  std::size_t place = counters_.size();
  std::uint64_t inherited = 0;
  if (counters_.size() < most_keys) {
    counters_.emplace_back();
  } else {
    const auto least =
        std::ranges::min_element(counters_, {}, [](const Counter& counter) { return counter.key.amount; });
    place = static_cast<std::size_t>(least - counters_.begin());
    inherited = least->key.amount;
  }
  hashes_[place] = hash;
  Counter& counter = counters_[place];
  counter.key.bytes.assign(kept);
  counter.key.is_cut = kept.size() < bytes.size();
  counter.key.amount = inherited;
  counter.key.most_excess = inherited;
  counter.key.most_in_a_second = 0;
  counter.in_second = 0;
  return place;
}

void HeavyHitters::add(std::uint32_t hash, std::string_view bytes, std::uint64_t amount, std::int64_t second) {
  std::size_t place = find(hash, bytes.substr(0, most_key_bytes));
  if (place == counters_.size()) {
    if (place == most_keys && !is_looked_at(amount)) return;
    place = place_for(hash, bytes);
  }
  Counter& counter = counters_[place];
  counter.key.amount += amount;
  if (counter.second != second) {
    counter.second = second;
    counter.in_second = 0;
  }
  counter.in_second += amount;
  counter.key.most_in_a_second = std::max(counter.key.most_in_a_second, counter.in_second);
}

std::vector<HeavyHitters::Key> HeavyHitters::keys() const {
  std::vector<Key> keys;
  keys.reserve(counters_.size());
  for (const Counter& counter : counters_) keys.push_back(counter.key);
  return keys;
}

void HeavyHitters::clear() { counters_.clear(); }

}  // namespace postino::capacity
