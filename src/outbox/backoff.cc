#include "outbox/backoff.h"

#include <algorithm>

namespace postino::outbox {

namespace {

base::Milliseconds up_to(base::Milliseconds longest, base::Random& random) {
  const auto choices = static_cast<std::uint64_t>(std::max<std::int64_t>(longest.count(), 1));
  return base::Milliseconds(static_cast<std::int64_t>(random.next() % choices));
}

}  // namespace

base::Milliseconds Backoff::ceiling(int failures) const {
  base::Milliseconds delay = first;
  for (int i = 1; i < failures && delay < longest; ++i) delay *= 2;
  return std::min(delay, longest);
}

base::Milliseconds Backoff::full_jitter(int failures, base::Random& random) const {
  return up_to(ceiling(failures), random);
}

base::Milliseconds Backoff::equal_jitter(int failures, base::Random& random) const {
  const base::Milliseconds half = ceiling(failures) / 2;
  return half + up_to(half, random);
}

}  // namespace postino::outbox
