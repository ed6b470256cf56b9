#include "objects/request_time.h"

#include <algorithm>

namespace postino::objects {

thread_local RequestTime* RequestTime::current_ = nullptr;

net::Deadline RequestTime::end_of_call(std::chrono::milliseconds time) {
  const net::Deadline end = net::deadline_in(time);
  if (current_ == nullptr) return end;
  current_->end_ = std::min(current_->end_.value_or(end), end);
  return *current_->end_;
}

}  // namespace postino::objects
