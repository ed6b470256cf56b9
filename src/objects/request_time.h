// How long one request to a server waits for the object store in all.
#pragma once

#include <chrono>
#include <optional>

#include "net/shutdown_deadline.h"

namespace postino::objects {

// As long as it exists, all calls that its thread makes to the object store have the time that one call may take, from
// the first one on. So a request does not wait longer for a store that hangs or is slow because it needs many objects.
class RequestTime {
 public:
  RequestTime() : outer_(current_) { current_ = this; }
  ~RequestTime() { current_ = outer_; }
  RequestTime(const RequestTime&) = delete;
  RequestTime& operator=(const RequestTime&) = delete;

  // When a call that begins now, and may take so long, must be over.
  static net::Deadline end_of_call(std::chrono::milliseconds time);

 private:
  static thread_local RequestTime* current_;

  RequestTime* const outer_;
  std::optional<net::Deadline> end_;
};

}  // namespace postino::objects
