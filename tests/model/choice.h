// Random decisions that a seed repeats.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace postino::model {

class Choice {
 public:
  explicit Choice(std::uint64_t seed) : generator_(seed) {}

  // From low to high, both included.
  int between(int low, int high) {
    return low + static_cast<int>(generator_() % static_cast<unsigned>(high - low + 1));
  }
  bool one_in(int count) { return between(1, count) == 1; }

  // One of them; there must be one.
  template <class T>
  const T& of(const std::vector<T>& options) {
    return options[static_cast<std::size_t>(between(0, static_cast<int>(options.size()) - 1))];
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace postino::model
