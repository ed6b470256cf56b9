// Which keys were met, as a set of 64-bit hashes: a few bytes for each. Two keys in ten million have the same hash with
// a probability of three in a million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "item/value.h"

namespace postino::metrics {

std::uint64_t fingerprint_of(const item::Key& key);

class KeyFingerprints {
 public:
  // True if it was not there.
  bool insert(std::uint64_t fingerprint);
  bool contains(std::uint64_t fingerprint) const;
  std::size_t size() const { return size_; }
  void clear();

 private:
  // Where it is, or would be.
  std::size_t place_of(std::uint64_t fingerprint) const;
  void grow();

  std::vector<std::uint64_t> places_;  // 0: free; as many as a power of two
  std::size_t size_ = 0;
};

}  // namespace postino::metrics
