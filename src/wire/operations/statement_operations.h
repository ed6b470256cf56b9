// PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.
#pragma once

#include "wire/protocol/operation.h"

namespace postino::wire {

// One statement, alone or in a batch or transaction.
struct StatementInput {
  std::optional<std::string> statement;
  std::optional<std::vector<ValueInput>> parameters;
  std::optional<bool> consistent_read;
  std::optional<std::string> return_values_on_failure;
  // Alone only:
  std::optional<std::string> next_token;
  std::optional<std::int32_t> limit;
  std::optional<std::string> return_consumed_capacity;
};
template <>
struct Shape<StatementInput> {
  static constexpr std::string_view name = "BatchStatementRequest";
  using T = StatementInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::statement>("Statement"),
      member<T, &T::parameters>("Parameters"),
      member<T, &T::consistent_read>("ConsistentRead"),
      member<T, &T::return_values_on_failure>("ReturnValuesOnConditionCheckFailure"),
      member<T, &T::next_token>("NextToken"),
      member<T, &T::limit>("Limit"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
  });
};

// Several of them.
struct StatementsInput {
  std::optional<std::vector<StatementInput>> statements;           // of a batch
  std::optional<std::vector<StatementInput>> transact_statements;  // of a transaction
  std::optional<std::string> client_request_token;
  std::optional<std::string> return_consumed_capacity;
};
template <>
struct Shape<StatementsInput> {
  static constexpr std::string_view name = "BatchExecuteStatementInput";
  using T = StatementsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::statements>("Statements"),
      member<T, &T::transact_statements>("TransactStatements"),
      member<T, &T::client_request_token>("ClientRequestToken"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
  });
};

struct ExecuteStatement {
  static constexpr std::string_view name = "ExecuteStatement";
  static constexpr bool may_take_long = true;
  static constexpr bool may_write = true;
  using Input = StatementInput;
  using Request = partiql::ExecuteStatementRequest;
  using Response = partiql::ExecuteStatementResponse;
  static store::Answer<Request> decode(Input input);
  // Statements say what they do when they are planned: the request gets a gate for them.
  static store::Answer<void> authorize(const AccessCheck& check, Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct BatchExecuteStatement {
  static constexpr std::string_view name = "BatchExecuteStatement";
  static constexpr bool may_take_long = true;
  static constexpr bool may_write = true;
  using Input = StatementsInput;
  using Request = partiql::BatchExecuteStatementRequest;
  using Response = partiql::BatchExecuteStatementResponse;
  static store::Answer<Request> decode(Input input);
  // Statements say what they do when they are planned: the request gets a gate for them.
  static store::Answer<void> authorize(const AccessCheck& check, Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ExecuteTransaction {
  static constexpr std::string_view name = "ExecuteTransaction";
  static constexpr bool may_take_long = true;
  static constexpr bool may_write = true;
  using Input = StatementsInput;
  using Request = partiql::ExecuteTransactionRequest;
  using Response = partiql::ExecuteTransactionResponse;
  static store::Answer<Request> decode(Input input);
  // Statements say what they do when they are planned: the request gets a gate for them.
  static store::Answer<void> authorize(const AccessCheck& check, Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
