// How much a read may do on a thread where others wait.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "store/error.h"

namespace postino::store {

// A read that needs more than its allowance is given up: exhausted() is true then, the answer means nothing, and it is
// as if it had not been asked. The caller asks again without an allowance, on a thread that may take its time. Several
// reads of one caller may share an allowance. For one thread at a time.
class ReadAllowance {
 public:
  ReadAllowance(std::size_t keys, std::size_t bytes) : keys_(keys), bytes_(bytes) {}
  ReadAllowance(const ReadAllowance&) = delete;
  ReadAllowance& operator=(const ReadAllowance&) = delete;

  bool exhausted() const { return exhausted_; }

  // The rest is for stores.

  // Keys that may still be read or stepped over.
  std::size_t keys() const { return keys_; }
  // False when that is more than is left: the read must be given up.
  bool take(std::size_t keys, std::size_t bytes) {
    if (keys > keys_ || bytes > bytes_) {
      exhaust();
      return false;
    }
    keys_ -= keys;
    bytes_ -= bytes;
    return true;
  }
  void exhaust() {
    exhausted_ = true;
    for (const std::function<void()>& undo : std::exchange(undo_, {})) undo();
  }
  // Remembers how to undo what a read has done beside reading, such as taking throughput.
  void undo_if_exhausted(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

 private:
  std::size_t keys_;
  std::size_t bytes_;
  bool exhausted_ = false;
  std::vector<std::function<void()>> undo_;
};

// The answer to a read that was given up. No caller gets to see it.
inline tl::unexpected<Error> read_given_up() {
  return refuse(ErrorType::internal_server_error, "the read needs more than its allowance");
}

}  // namespace postino::store
