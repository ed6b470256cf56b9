// One operation of the API: how its body becomes a request, who runs it, and how the answer becomes JSON.
//
//   struct GetItem {
//     static constexpr std::string_view name = "GetItem";
//     using Input = GetItemInput;                      // the body's shape
//     using Request = store::GetItemRequest;
//     using Response = store::GetItemResponse;
//     static store::Answer<Request> decode(Input input);
//     static void run(const Services& services, const Request& request, store::Completion<Response> done);
//     static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
//   };
//
// Optional: `static void add_reporting(const Request&, Reporting&)` when encode must know more of what the request
// asked for, and `static void reword(store::Error&, const Reporting&)` where an error has another text here.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "partiql/executor.h"
#include "store/store.h"
#include "wire/input.h"
#include "wire/json_writer.h"
#include "wire/reply.h"

namespace postino::wire {

// What operations run on.
struct Services {
  store::Store* store = nullptr;
  partiql::Executor* partiql = nullptr;
  base::ThreadPool* control = nullptr;  // one thread for operations on tables, which wait for the disk
  std::string region;
  // Of this endpoint, as DescribeEndpoints tells it.
  const std::atomic<std::shared_ptr<const std::string>>* address = nullptr;
};

// What a request asked to be told beside its result.
struct Reporting {
  store::ReturnConsumedCapacity consumed_capacity = store::ReturnConsumedCapacity::none;
  bool count_only = false;
  bool attribute_updates = false;  // the update was not given as an expression: errors have other texts
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

struct Operation {
  std::string_view api;  // "DynamoDB" or "DynamoDBStreams"
  std::string_view name;
  void (*perform)(const Services& services, std::string_view body, Finish finish);
};

// nullptr when there is no such operation; `target` is the header's value, "DynamoDB_20120810.GetItem".
const Operation* find_operation(std::string_view target);

// All of them, in the order of find_operation's results (for statistics).
std::size_t operation_count();
const Operation& operation_at(std::size_t index);
std::size_t index_of(const Operation& operation);

template <class Type>
void perform(const Services& services, std::string_view body, Finish finish) {
  auto input = read_input<typename Type::Input>(body);
  if (!input) return finish(serialization_failure(input.error().message));
  const auto request = Type::decode(*std::move(input));
  if (!request) return finish(failure(request.error()));
  Reporting reporting = reporting_of(*request);
  if constexpr (requires { Type::add_reporting(*request, reporting); }) Type::add_reporting(*request, reporting);
  Type::run(services, *request, [reporting, finish = std::move(finish)](store::Answer<typename Type::Response> answer) {
    if (!answer) {
      if constexpr (requires { Type::reword(answer.error(), reporting); }) Type::reword(answer.error(), reporting);
      return finish(failure(answer.error()));
    }
    std::string text;
    JsonWriter json(text);
    Type::encode(json, *answer, reporting);
    finish(success(std::move(text)));
  });
}

template <class Type>
constexpr Operation operation(std::string_view api = "DynamoDB") {
  return {api, Type::name, &perform<Type>};
}

}  // namespace postino::wire
