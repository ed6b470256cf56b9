// What a broker answers when it cannot do what was asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::broker {

enum class FailureKind {
  invalid,        // the caller's input breaks a rule
  unreachable,    // no endpoint could be connected to; each has its reason
  refused,        // the broker does not let us in, or not at this queue
  no_such_queue,  //
  lost,           // the connection broke in the middle
  timed_out,      // no answer within the time limit
  rejected,       // the broker did not take a message
  unsupported,    // this broker cannot do that
  exhausted,      // a limit of our own is reached; trying later may help
  stopped,        // the caller wanted no more
  in_doubt,       // the store of the queue failed while it was written: messages may be in the queue
};

// "no such queue"
std::string_view name_of(FailureKind kind);

struct EndpointFailure {
  std::string endpoint;  // "broker.example:5672"
  std::string reason;

  friend bool operator==(const EndpointFailure&, const EndpointFailure&) = default;
};

// Never holds a password.
struct Failure {
  FailureKind kind = FailureKind::invalid;
  std::string message;
  std::vector<EndpointFailure> endpoints;  // that were tried, in their order; for unreachable
  bool is_told = false;                    // the log has it already, and need not have it for each call

  // Might the same request succeed later, or is there something to be put right first?
  bool is_temporary() const;
};

template <class T>
using Result = base::Result<T, Failure>;

inline tl::unexpected<Failure> refuse(FailureKind kind, std::string message) {
  return tl::unexpected<Failure>(Failure{kind, std::move(message), {}});
}
// For a request that breaks a rule; the message says which.
inline tl::unexpected<Failure> refuse_invalid(std::string rule) {
  return refuse(FailureKind::invalid, std::move(rule));
}

}  // namespace postino::broker
