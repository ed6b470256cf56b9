#include "base/random.h"

#include <sys/random.h>

#include <cstdio>

#include "base/check.h"

namespace postino::base {

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  // Requests of up to 256 bytes are neither cut short nor interrupted once the kernel's pool is ready.
  CHECK(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

std::uint64_t SeededRandom::next() {
  std::lock_guard lock(mutex_);
  return generator_();
}

std::string make_uuid(Random& random) {
  constexpr std::uint64_t version_mask = 0xF000, version_4 = 0x4000;
  constexpr std::uint64_t variant_mask = 0xC000'0000'0000'0000, variant_rfc = 0x8000'0000'0000'0000;
  const std::uint64_t high = (random.next() & ~version_mask) | version_4;
  const std::uint64_t low = (random.next() & ~variant_mask) | variant_rfc;
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xFFFF), static_cast<unsigned>(high & 0xFFFF),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xFFFF'FFFF'FFFF));
  return text;
}

}  // namespace postino::base
