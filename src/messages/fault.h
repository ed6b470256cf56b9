// Why a call of the message service did not do what it was asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "broker/broker.h"
#include "json/fields.h"
#include "store/error.h"

namespace postino::messages {

enum class FaultKind {
  invalid,    // the request breaks a rule; `fields` say which
  forbidden,  // the queue is not one of the tenant's
  no_such_queue,
  in_progress,     // an execution with this key is at work
  other_request,   // the key was used for another request
  unreadable_key,  // the record of the key cannot be read; nothing was done
  unsupported,     // this broker cannot do that
  unreachable,     // none of the endpoints could be connected to; `endpoints` say why
  broker,          // the broker refused it, or was lost meanwhile
  exhausted,       // too much at a time; later it may do
  store,           // the record of the execution could not be read or written: nothing was done
  unknown,         // the store failed while it was written: it may have been done. A repeat with the key finds out
  timed_out,       // the broker did not answer in time
  internal,
};

// "NO_SUCH_QUEUE"
std::string_view name_of(FaultKind kind);

// Never holds a password.
struct Fault {
  FaultKind kind = FaultKind::internal;
  std::string message;
  std::vector<json::FieldError> fields;
  std::vector<broker::EndpointFailure> endpoints;
  std::optional<base::Milliseconds> retry_after;  // when another try may help
  bool is_told = false;                           // the log has it already, and need not have it for each call
};

template <class T>
using Result = base::Result<T, Fault>;

tl::unexpected<Fault> refuse(FaultKind kind, std::string message);
tl::unexpected<Fault> refuse_field(std::string field, std::string rule);

Fault fault_of(const broker::Failure& failure);
Fault fault_of(const store::Error& error);

}  // namespace postino::messages
