#include "broker/protocol/failure.h"

namespace postino::broker {

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::invalid:
      return "invalid";
    case FailureKind::unreachable:
      return "unreachable";
    case FailureKind::refused:
      return "refused";
    case FailureKind::no_such_queue:
      return "no such queue";
    case FailureKind::lost:
      return "connection lost";
    case FailureKind::timed_out:
      return "timed out";
    case FailureKind::rejected:
      return "rejected";
    case FailureKind::unsupported:
      return "unsupported";
    case FailureKind::exhausted:
      return "exhausted";
    case FailureKind::stopped:
      return "stopped";
    case FailureKind::in_doubt:
      return "in doubt";
  }
  return "";
}

bool Failure::is_temporary() const {
  switch (kind) {
    case FailureKind::unreachable:
    case FailureKind::lost:
    case FailureKind::timed_out:
    case FailureKind::exhausted:
    case FailureKind::stopped:
    case FailureKind::in_doubt:
      return true;
    case FailureKind::invalid:
    case FailureKind::refused:
    case FailureKind::no_such_queue:
    case FailureKind::rejected:
    case FailureKind::unsupported:
      return false;
  }
  return false;
}

}  // namespace postino::broker
