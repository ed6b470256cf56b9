#include "metrics/figures/key_fingerprints.h"

#include <algorithm>

#include "base/hash.h"
#include "item/json_codec.h"

namespace postino::metrics {

std::uint64_t fingerprint_of(const item::Key& key) {
  // 0 means a free place.
  return std::max<std::uint64_t>(base::fast_hash(item::to_json(key)), 1);
}

std::size_t KeyFingerprints::place_of(std::uint64_t fingerprint) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t place = (fingerprint >> 32 ^ fingerprint) & mask;
  while (places_[place] != 0 && places_[place] != fingerprint) place = (place + 1) & mask;
  return place;
}

void KeyFingerprints::grow() {
  constexpr std::size_t least_places = 1'024;
  std::vector<std::uint64_t> old(std::max(least_places, places_.size() * 2), 0);
  old.swap(places_);
  for (const std::uint64_t fingerprint : old)
    if (fingerprint != 0) places_[place_of(fingerprint)] = fingerprint;
}

bool KeyFingerprints::insert(std::uint64_t fingerprint) {
  if (2 * (size_ + 1) > places_.size()) grow();
  std::uint64_t& place = places_[place_of(fingerprint)];
  if (place != 0) return false;
  place = fingerprint;
  ++size_;
  return true;
}

bool KeyFingerprints::contains(std::uint64_t fingerprint) const {
  return !places_.empty() && places_[place_of(fingerprint)] != 0;
}

void KeyFingerprints::clear() {
  places_.clear();
  size_ = 0;
}

}  // namespace postino::metrics
