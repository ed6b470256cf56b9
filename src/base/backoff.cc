#include "base/backoff.h"

#include <algorithm>

namespace postino::base {

namespace {

Milliseconds up_to(Milliseconds longest, std::uint64_t number) {
  const auto choices = static_cast<std::uint64_t>(std::max<std::int64_t>(longest.count(), 1));
  return Milliseconds(static_cast<std::int64_t>(number % choices));
}

}  // namespace

Milliseconds Backoff::ceiling(int failures) const {
  Milliseconds delay = first;
  for (int i = 1; i < failures && delay < longest; ++i) delay *= 2;
  return std::min(delay, longest);
}

Milliseconds Backoff::full_jitter(int failures, Random& random) const {
  return up_to(ceiling(failures), random.next());
}

Milliseconds Backoff::equal_jitter(int failures, std::uint64_t number) const {
  const Milliseconds half = ceiling(failures) / 2;
  return half + up_to(half, number);
}

}  // namespace postino::base
