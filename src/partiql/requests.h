// Requests and answers of the three operations that run PartiQL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/capacity.h"
#include "store/error.h"
#include "store/read_allowance.h"

namespace postino::partiql {

inline constexpr std::size_t max_batch_statements = 25;
inline constexpr std::size_t max_transaction_statements = 100;
inline constexpr std::size_t max_next_token_length = 32'768;

class StatementGate;

// Text and parameters are the user's own: they are never logged.
struct Statement {
  std::string text;
  std::vector<item::AttributeValue> parameters;
  bool has_parameters = false;  // DynamoDB refuses a list of parameters that is there and empty
  // What was wrong with the parameters, when they could not be read. It is reported before the statement is looked at,
  // in a batch in the statement's own place.
  std::optional<std::string> parameter_fault;
};

struct ExecuteStatementRequest {
  Statement statement;
  bool consistent_read = false;
  std::optional<std::string> next_token;
  std::optional<int> limit;  // items examined, not returned
  store::ReturnConsumedCapacity return_consumed_capacity = store::ReturnConsumedCapacity::none;
  bool return_item_on_failure = false;
  store::ReadAllowance* allowance = nullptr;  // of the caller, for reads; nullptr: as much as they take
  std::shared_ptr<const StatementGate> gate;  // nullptr: its author may do everything
};
struct ExecuteStatementResponse {
  std::vector<item::Item> items;  // always shown, also when empty
  std::optional<std::string> next_token;
  std::optional<item::Key> last_evaluated_key;
  std::optional<store::ConsumedCapacity> consumed_capacity;
};

struct BatchStatement {
  Statement statement;
  bool consistent_read = false;
  bool return_item_on_failure = false;
};
struct BatchExecuteStatementRequest {
  std::vector<BatchStatement> statements;
  store::ReturnConsumedCapacity return_consumed_capacity = store::ReturnConsumedCapacity::none;
  store::ReadAllowance* allowance = nullptr;  // of the caller, for reads; nullptr: as much as they take
  std::shared_ptr<const StatementGate> gate;  // nullptr: its author may do everything
};
struct BatchStatementError {
  std::string code;  // "ConditionalCheckFailed", "ValidationError", ...
  std::string message;
  std::optional<item::Item> item;
};
struct BatchStatementResult {
  std::optional<item::Item> item;
  std::string table_name;  // empty, and not shown, when the statement was refused before it came to its table
  std::optional<BatchStatementError> error;
};
struct BatchExecuteStatementResponse {
  std::vector<BatchStatementResult> results;  // in the order of the statements
  std::vector<store::ConsumedCapacity> consumed_capacity;
};

struct TransactStatement {
  Statement statement;
  bool return_item_on_failure = false;
};
struct ExecuteTransactionRequest {
  std::vector<TransactStatement> statements;
  std::optional<std::string> client_request_token;
  store::ReturnConsumedCapacity return_consumed_capacity = store::ReturnConsumedCapacity::none;
  store::ReadAllowance* allowance = nullptr;  // of the caller, for reads; nullptr: as much as they take
  std::shared_ptr<const StatementGate> gate;  // nullptr: its author may do everything
};
struct ExecuteTransactionResponse {
  std::vector<std::optional<item::Item>> items;  // one for each read; none for writes
  std::vector<store::ConsumedCapacity> consumed_capacity;
};

}  // namespace postino::partiql
