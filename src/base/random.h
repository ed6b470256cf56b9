// Randomness comes in through an interface, so that a failure can be replayed from its seed.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>

#include "base/clock.h"

namespace postino::base {

// Safe to call from any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

// From the kernel: unpredictable, for identifiers that outsiders see.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : generator_(seed) {}
  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::mt19937_64 generator_;
};

// A version 4 UUID in its 36-character form.
std::string make_uuid(Random& random);
// The same with the time in front (version 7): those that are made one after the other stand side by side where they
// are sorted, which makes them cheaper to store.
std::string make_ordered_uuid(TimePoint now, Random& random);

}  // namespace postino::base
