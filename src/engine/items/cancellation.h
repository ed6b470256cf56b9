// Collects why a transaction cannot be done: one reason per action, in order.
#pragma once

#include <vector>

#include "store/error.h"

namespace postino::engine {

class Cancellation {
 public:
  explicit Cancellation(std::size_t actions) : reasons_(actions) {}

  // Failed conditions and throttling are always reported; of several broken rules only the first.
  void add(std::size_t action, const store::Error& error);

  bool cancelled() const { return cancelled_; }
  store::Error error() &&;

 private:
  std::vector<store::CancellationReason> reasons_;
  bool cancelled_ = false;
  bool has_validation_error_ = false;
};

}  // namespace postino::engine
