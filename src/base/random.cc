#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cstdio>

#include "base/check.h"

namespace postino::base {

namespace {

// With the bits that say what kind it is.
std::string uuid_text(std::uint64_t high, std::uint64_t low, std::uint64_t version) {
  constexpr std::uint64_t version_mask = 0xF000;
  constexpr std::uint64_t variant_mask = 0xC000'0000'0000'0000, variant_rfc = 0x8000'0000'0000'0000;
  high = (high & ~version_mask) | version << 12;
  low = (low & ~variant_mask) | variant_rfc;
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xFFFF), static_cast<unsigned>(high & 0xFFFF),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xFFFF'FFFF'FFFF));
  return text;
}

}  // namespace

std::uint64_t SystemRandom::next() {
  // Some in advance, because asking the kernel takes longer than everything else that is done with an id.
  thread_local std::array<std::uint64_t, 32> values;
  thread_local std::size_t left = 0;
  if (left == 0) {
    // Requests of up to 256 bytes are neither cut short nor interrupted once the kernel's pool is ready.
    CHECK(::getrandom(values.data(), sizeof values, 0) == static_cast<ssize_t>(sizeof values));
    left = values.size();
  }
  return values[--left];
}

std::uint64_t SeededRandom::next() {
  std::lock_guard lock(mutex_);
  return generator_();
}

std::string make_uuid(Random& random) {
  const std::uint64_t high = random.next();
  return uuid_text(high, random.next(), 4);
}

std::string make_ordered_uuid(TimePoint now, Random& random) {
  constexpr std::uint64_t after_time = 0xFFFF;
  const std::uint64_t high = static_cast<std::uint64_t>(epoch_milliseconds(now)) << 16 | (random.next() & after_time);
  return uuid_text(high, random.next(), 7);
}

}  // namespace postino::base
