#include "messages/fault.h"

#include "store/retry.h"

namespace postino::messages {

namespace {

constexpr base::Milliseconds a_moment{1'000};
constexpr base::Milliseconds a_while{5'000};

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::invalid:
      return "INVALID_REQUEST";
    case FaultKind::forbidden:
      return "FORBIDDEN";
    case FaultKind::no_such_queue:
      return "NO_SUCH_QUEUE";
    case FaultKind::in_progress:
      return "IN_PROGRESS";
    case FaultKind::other_request:
      return "OTHER_REQUEST";
    case FaultKind::unreadable_key:
      return "UNREADABLE_IDEMPOTENCY_RECORD";
    case FaultKind::unsupported:
      return "UNSUPPORTED";
    case FaultKind::unreachable:
      return "UNREACHABLE";
    case FaultKind::broker:
      return "BROKER_FAILED";
    case FaultKind::exhausted:
      return "EXHAUSTED";
    case FaultKind::store:
      return "STORE_UNAVAILABLE";
    case FaultKind::unknown:
      return "OUTCOME_UNKNOWN";
    case FaultKind::timed_out:
      return "TIMED_OUT";
    case FaultKind::internal:
      break;
  }
  return "INTERNAL_ERROR";
}

tl::unexpected<Fault> refuse(FaultKind kind, std::string message) {
  return tl::unexpected<Fault>(Fault{.kind = kind, .message = std::move(message)});
}

tl::unexpected<Fault> refuse_field(std::string field, std::string rule) {
  Fault fault{.kind = FaultKind::invalid, .message = field + " " + rule};
  fault.fields.push_back({std::move(field), std::move(rule)});
  return tl::unexpected<Fault>(std::move(fault));
}

Fault fault_of(const broker::Failure& failure) {
  using broker::FailureKind;
  Fault fault{.kind = FaultKind::broker, .message = failure.message, .endpoints = failure.endpoints};
  switch (failure.kind) {
    case FailureKind::invalid:
      fault.kind = FaultKind::invalid;
      break;
    case FailureKind::no_such_queue:
      fault.kind = FaultKind::no_such_queue;
      break;
    case FailureKind::unsupported:
      fault.kind = FaultKind::unsupported;
      break;
    case FailureKind::unreachable:
      fault.kind = FaultKind::unreachable;
      break;
    case FailureKind::timed_out:
      fault.kind = FaultKind::timed_out;
      break;
    case FailureKind::exhausted:
      fault.kind = FaultKind::exhausted;
      break;
    case FailureKind::in_doubt:
      fault.kind = FaultKind::unknown;
      break;
    case FailureKind::refused:
    case FailureKind::lost:
    case FailureKind::rejected:
    case FailureKind::stopped:
      break;
  }
  if (failure.is_temporary()) fault.retry_after = a_while;
  fault.is_told = failure.is_told;
  return fault;
}

Fault fault_of(const store::Error& error) {
  const base::Error plain = store::as_error(error);
  const bool may_pass = plain.code == base::ErrorCode::io || plain.code == base::ErrorCode::exhausted;
  Fault fault{.kind = may_pass ? FaultKind::store : FaultKind::internal, .message = plain.message};
  if (may_pass) fault.retry_after = a_moment;
  return fault;
}

}  // namespace postino::messages
