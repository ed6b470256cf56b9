// Calls to a store that may be busy: tried again a few times, with growing random delays.
#pragma once

#include <functional>

#include "base/backoff.h"
#include "base/random.h"
#include "store/error.h"

namespace postino::store {

inline constexpr int store_attempts = 8;

// May the same request succeed later? Never true of a condition that failed.
bool worth_repeating(const Error& error);

class Retry {
 public:
  using Sleep = std::function<void(base::Milliseconds)>;
  Retry(base::Random& random, Sleep sleep) : random_(random), sleep_(std::move(sleep)) {}

  template <class Call>
  auto operator()(const Call& call) const -> decltype(call()) {
    for (int failures = 1;; ++failures) {
      auto answer = call();
      if (answer || failures == store_attempts || !worth_repeating(answer.error())) return answer;
      sleep_(base::Backoff().full_jitter(failures, random_));
    }
  }

 private:
  base::Random& random_;
  Sleep sleep_;
};

// As the rest of the house reports errors.
base::Error as_error(const Error& error);

}  // namespace postino::store
