#include "objects/call_gate.h"

namespace postino::objects {

CallGate::Pass::~Pass() {
  if (gate_ != nullptr) gate_->leave(is_probe_);
}

void CallGate::Pass::works() {
  const std::lock_guard lock(gate_->mutex_);
  gate_->is_away_ = false;
}

void CallGate::Pass::fails(const std::string& why) {
  const std::lock_guard lock(gate_->mutex_);
  gate_->is_away_ = true;
  gate_->why_ = why;
  gate_->next_probe_ = gate_->clock_.monotonic() + gate_->limits_.rest;
  gate_->changed_.notify_all();  // those who wait for a place need not
}

base::Result<CallGate::Pass> CallGate::enter() {
  std::unique_lock lock(mutex_);
  if (is_away_) {
    if (is_probed_ || clock_.monotonic() < next_probe_) return away();
    is_probed_ = true;
    ++inside_;
    return Pass(*this, true);
  }
  const bool is_called = changed_.wait_for(lock, limits_.wait, [this] { return is_away_ || inside_ < limits_.places; });
  if (is_away_) return away();
  if (!is_called)
    return base::fail(base::ErrorCode::exhausted,
                      "the object store is slow: " + std::to_string(inside_) + " calls wait for it already");
  ++inside_;
  return Pass(*this, false);
}

bool CallGate::is_away() const {
  const std::lock_guard lock(mutex_);
  return is_away_;
}

tl::unexpected<base::Error> CallGate::away() const {
  return base::fail(base::ErrorCode::exhausted, "the object store could not be used a moment ago: " + why_);
}

void CallGate::leave(bool was_probe) {
  const std::lock_guard lock(mutex_);
  --inside_;
  if (was_probe) is_probed_ = false;
  changed_.notify_one();
}

}  // namespace postino::objects
