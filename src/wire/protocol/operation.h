// One operation of the API: how its body becomes a request, who runs it, and how the answer becomes JSON.
//
//   struct GetItem {
//     static constexpr std::string_view name = "GetItem";
//     using Input = GetItemInput;                      // the body's shape
//     using Request = store::GetItemRequest;
//     using Response = store::GetItemResponse;
//     static store::Answer<Request> decode(Input input);
//     static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
//     static void run(const Services& services, const Request& request, store::Completion<Response> done);
//     static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
//   };
//
// authorize() says what the request does, and to what: the policies of the caller's access key must allow all of it. It
// is asked before anything else is done, for callers who have policies. An operation without it does not compile.
//
// A read that may take long says `static constexpr bool may_take_long = true`, and its request has an allowance: it is
// run on the I/O thread, and if that does not suffice once more among the long calls.
//
// Optional: `static void add_reporting(const Request&, Reporting&)` when encode must know more of what the request
// asked for, and `static void reword(store::Error&, const Reporting&)` where an error has another text here.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "exchange/exchange.h"
#include "partiql/executor.h"
#include "store/store.h"
#include "wire/authorization/access_check.h"
#include "wire/protocol/given_names.h"
#include "wire/protocol/input.h"
#include "wire/protocol/json_writer.h"
#include "wire/protocol/long_calls.h"
#include "wire/protocol/reply.h"

namespace postino::wire {

// What operations run on.
struct Services {
  store::Store* store = nullptr;
  partiql::Executor* partiql = nullptr;
  base::ThreadPool* control = nullptr;  // one thread for operations on tables, which wait for the disk
  std::string region;
  // Of this endpoint, as DescribeEndpoints tells it.
  const std::atomic<std::shared_ptr<const std::string>>* address = nullptr;
  LongCalls* long_calls = nullptr;         // nullptr: the caller's thread is one of them, and may take its time
  exchange::Exchange* exchange = nullptr;  // nullptr: the server has no place for exports and imports
  base::MemoryBudget* answers = nullptr;   // that clients have not taken yet; nullptr: without limit
};

// What a request asked to be told beside its result.
struct Reporting {
  store::ReturnConsumedCapacity consumed_capacity = store::ReturnConsumedCapacity::none;
  bool count_only = false;
  bool key_conditions = false;     // the key condition was not given as an expression: an error has another text
  bool attribute_updates = false;  // the update was not given as an expression: errors have other texts
  GivenNames given_names;          // of the tables of a batch
};

// Of any request: requests keep in one of two places what they want to be told of capacity, or do not ask.
template <class Request>
Reporting reporting_of(const Request& request) {
  Reporting reporting;
  if constexpr (requires { request.report; }) reporting.consumed_capacity = request.report.consumed_capacity;
  if constexpr (requires { request.return_consumed_capacity; })
    reporting.consumed_capacity = request.return_consumed_capacity;
  return reporting;
}

// Called exactly once, on any thread.
using Finish = std::function<void(Reply)>;

// Operations on data use up the throughput of a table; those that control tables and settings have rates of their own.
// A caller who is throttled is told which it was.
enum class Plane { data, control };

struct Operation {
  std::string_view api;  // "DynamoDB" or "DynamoDBStreams"
  std::string_view name;
  Plane plane;
  // Without a check, the caller may do everything.
  void (*perform)(const Services& services, const AccessCheck* check, std::string_view body, Finish finish);
};

// nullptr when there is no such operation; `target` is the header's value, "DynamoDB_20120810.GetItem".
const Operation* find_operation(std::string_view target);

// All of them, in the order of find_operation's results (for statistics).
std::size_t operation_count();
const Operation& operation_at(std::size_t index);
std::size_t index_of(const Operation& operation);

// What a client is told when there is no room for its long call. SDKs try again.
Reply too_many_long_calls();
// What it is told while clients do not take their answers, so that no more pile up.
Reply too_many_unread_answers();

template <class Type>
Reply reply_to(store::Answer<typename Type::Response> answer, const Reporting& reporting) {
  if (!answer) {
    if constexpr (requires { Type::reword(answer.error(), reporting); }) Type::reword(answer.error(), reporting);
    return failure(answer.error());
  }
  std::string text;
  JsonWriter json(text);
  Type::encode(json, *answer, reporting);
  return success(std::move(text));
}

// A large answer takes its part of the budget until the client has it. A read that finds no room for its answer is
// refused and can be repeated; what may have written something must be told.
template <class Type>
Reply within_budget(base::MemoryBudget* answers, Reply reply) {
  constexpr std::size_t least_counted = 64 << 10;  // others mostly go out at once
  if (answers == nullptr || reply.body.size() < least_counted) return reply;
  constexpr bool may_write = requires { Type::may_write; };
  auto memory = may_write ? answers->take_anyway(reply.body.size()) : answers->take(reply.body.size());
  if (!memory) return too_many_unread_answers();
  reply.memory = std::make_shared<base::MemoryBudget::Share>(std::move(memory));
  return reply;
}

// A call that may take long: kept until it is answered.
template <class Type>
struct LongCall {
  LongCall(typename Type::Request call_request, const Reporting& call_reporting, Finish call_finish)
      : request(std::move(call_request)), reporting(call_reporting), finish(std::move(call_finish)) {}

  typename Type::Request request;
  const Reporting reporting;
  const Finish finish;
  store::ReadAllowance allowance{short_read_keys, short_read_bytes};
};

// Runs it with or without its allowance. Reads are done when this returns. They are answered unless it is exhausted;
// statements that write never use it.
template <class Type>
void run(const Services& services, const std::shared_ptr<LongCall<Type>>& call, store::ReadAllowance* allowance) {
  if (services.answers != nullptr && services.answers->exhausted()) {
    services.answers->count_refusal();
    return call->finish(too_many_unread_answers());
  }
  call->request.allowance = allowance;
  Type::run(services, call->request, [call, answers = services.answers](store::Answer<typename Type::Response> answer) {
    if (call->request.allowance == nullptr || !call->allowance.exhausted())
      call->finish(within_budget<Type>(answers, reply_to<Type>(std::move(answer), call->reporting)));
  });
}

template <class Type>
void perform_long(const Services& services, const std::shared_ptr<LongCall<Type>>& call) {
  if (services.long_calls == nullptr) return run<Type>(services, call, nullptr);
  run<Type>(services, call, &call->allowance);
  if (!call->allowance.exhausted()) return;
  if (!services.long_calls->try_submit([&services, call] { run<Type>(services, call, nullptr); }))
    call->finish(too_many_long_calls());
}

template <class Type>
void perform(const Services& services, const AccessCheck* check, std::string_view body, Finish finish) {
  auto input = read_input<typename Type::Input>(body);
  if (!input) return finish(serialization_failure(input.error().message));
  auto request = Type::decode(*std::move(input));
  if (!request) return finish(failure(request.error()));
  if (check != nullptr)
    if (const auto allowed = Type::authorize(*check, *request); !allowed) return finish(failure(allowed.error()));
  Reporting reporting = reporting_of(*request);
  if constexpr (requires { Type::add_reporting(*request, reporting); }) Type::add_reporting(*request, reporting);
  if constexpr (requires { Type::may_take_long; })
    perform_long<Type>(services, std::make_shared<LongCall<Type>>(*std::move(request), reporting, std::move(finish)));
  else
    Type::run(services, *request,
              [reporting, finish = std::move(finish)](store::Answer<typename Type::Response> answer) {
                finish(reply_to<Type>(std::move(answer), reporting));
              });
}

template <class Type>
constexpr Operation operation(Plane plane, std::string_view api = "DynamoDB") {
  return {api, Type::name, plane, &perform<Type>};
}

}  // namespace postino::wire
