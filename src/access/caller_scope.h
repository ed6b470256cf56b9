// Whose data the call that a thread executes may touch: the one place where tenants and customers are kept apart.
//
// The API opens a scope for each call, before its handler runs. Services check it where they turn a tenant into keys,
// filters and names of queues. So a handler that passes no tenant, or another one than the caller's, gets nothing: it
// is believed neither by services nor by the store. Threads that work for no caller, such as those that send e-mails,
// have no scope and may touch everything.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace postino::access {

// A fault of the program. It is thrown, although errors are values in this house: no function on the way can do
// anything about it, none may take it for an absence, and the server must go on. The API answers 500 and logs it.
class ScopeFault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Belongs to the thread that made it, and ends there. One inside another counts until it ends.
class CallerScope {
 public:
  // An empty tenant: all of them. An empty customer: all of the tenant.
  CallerScope(std::string_view tenant, std::string_view customer)
      : tenant_(tenant), customer_(customer), outer_(current_) {
    current_ = this;
  }
  ~CallerScope() { current_ = outer_; }
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

  // Throws ScopeFault unless this thread's call may touch what belongs to this tenant as a whole, and so to none of its
  // customers alone: a call of one customer may not. An empty tenant is all of them.
  static void check(std::string_view tenant);
  // The same of what belongs to a customer of the tenant; nullopt: to any of them.
  static void check(std::string_view tenant, const std::optional<std::string>& customer);

 private:
  const std::string tenant_;
  const std::string customer_;
  const CallerScope* const outer_;
  static thread_local const CallerScope* current_;
};

}  // namespace postino::access
