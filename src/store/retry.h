// Calls to a store that may be busy: tried again a few times, with growing random delays. If it is not known of one
// attempt whether it was done, later refusals do not make it known: the answer is the error of that attempt.
#pragma once

#include <functional>
#include <optional>

#include "base/backoff.h"
#include "base/random.h"
#include "store/error.h"
#include "store/transaction.h"

namespace postino::store {

class Store;

inline constexpr int store_attempts = 8;

// May the same request succeed later? Never true of a condition that failed.
bool worth_repeating(const Error& error);

class Retry {
 public:
  using Sleep = std::function<void(base::Milliseconds)>;
  Retry(base::Random& random, Sleep sleep) : random_(random), sleep_(std::move(sleep)) {}

  template <class Call>
  auto operator()(const Call& call) const -> decltype(call()) {
    std::optional<Error> unknown;
    for (int failures = 1;; ++failures) {
      auto answer = call();
      if (answer || !worth_repeating(answer.error())) return answer;
      if (answer.error().type == ErrorType::internal_server_error) unknown = answer.error();
      if (failures == store_attempts && unknown) return base::propagate(*std::move(unknown));
      if (failures == store_attempts) return answer;
      sleep_(base::Backoff().full_jitter(failures, random_));
    }
  }

  // A transaction, done once however many attempts it takes. Where the store is shared, all attempts have one token,
  // the request's own or a new one: an attempt whose answer was lost is known by it, and a refusal is certain. The
  // embedded store needs none, and would have to keep it.
  Answer<TransactWriteItemsResponse> transact(Store& store, const TransactWriteItemsRequest& request) const;

 private:
  base::Random& random_;
  Sleep sleep_;
};

// As the rest of the house reports errors. A write that failed with `exhausted` was not done; with `io` it may have
// been.
base::Error as_error(const Error& error);
// Is it such an error of a table that is not there? Then it is the store that lacks something, not what was asked for.
bool is_of_missing_table(const base::Error& error);

}  // namespace postino::store
