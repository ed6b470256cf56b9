// How the operations of the store use calls.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remote/calls/caller.h"
#include "store/capacity.h"
#include "store/read_allowance.h"

namespace postino::remote {

template <class Response>
struct Asked {
  store::Answer<Response> answer;
  bool may_be_done = false;  // by an attempt before the one that was answered
};

// Calls, and reads the answer with decode(body).
template <class Decode>
auto ask(Caller& caller, const Call& call, const Decode& decode)
    -> Asked<typename decltype(decode(std::string()))::value_type> {
  using Response = typename decltype(decode(std::string()))::value_type;
  std::optional<Response> response;
  Outcome outcome = caller.call(call, [&](std::string body) -> base::Result<void> {
    auto decoded = decode(std::move(body));
    if (!decoded) return base::propagate(std::move(decoded).error());
    response = *std::move(decoded);
    return {};
  });
  if (!outcome.answer) return {base::propagate(std::move(outcome.answer).error()), outcome.may_be_done};
  return {*std::move(response), outcome.may_be_done};
}

// The answer to a write: a refusal says nothing about an attempt before it that may have been done.
template <class Response>
store::Answer<Response> settled(Asked<Response> asked) {
  if (asked.answer || !asked.may_be_done || asked.answer.error().type == store::ErrorType::internal_server_error)
    return std::move(asked.answer);
  return base::propagate(
      not_known_whether_done("the first answer was lost, and then: " + asked.answer.error().message));
}

enum class Units { read, write };

// Counts the units, and leaves them to the caller if it asked for them.
inline void report_capacity(Caller& caller, std::string_view operation, Units units,
                            store::ReturnConsumedCapacity wanted, std::optional<store::ConsumedCapacity>& consumed) {
  if (consumed) caller.counts().count_units(operation, {*consumed}, units == Units::write);
  if (wanted == store::ReturnConsumedCapacity::none) consumed.reset();
}
inline void report_capacity(Caller& caller, std::string_view operation, Units units,
                            store::ReturnConsumedCapacity wanted, std::vector<store::ConsumedCapacity>& consumed) {
  caller.counts().count_units(operation, consumed, units == Units::write);
  if (wanted == store::ReturnConsumedCapacity::none) consumed.clear();
}

// Whether a read must be given up, because it is asked for on a thread where others wait.
inline bool is_given_up(store::ReadAllowance* allowance) {
  if (allowance == nullptr) return false;
  allowance->exhaust();
  return true;
}

}  // namespace postino::remote
