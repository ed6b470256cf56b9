#include "wire/operations/statement_operations.h"

#include "store/transaction.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

constexpr std::size_t max_statement_length = 8'192;

void check_statement(Constraints& constraints, const std::string& path, const StatementInput& input) {
  constraints.check_not_null(path + "statement", input.statement.has_value());
  if (input.statement) constraints.check_length(path + "statement", *input.statement, 1, max_statement_length);
  if (input.parameters)
    constraints.check_count(path + "parameters", input.parameters->size(), 1, Constraints::any_number, "[]");
  check_word<FailureReturn>(constraints, path + "returnValuesOnConditionCheckFailure", input.return_values_on_failure);
}

void check_statements(Constraints& constraints, const std::string& path,
                      const std::optional<std::vector<StatementInput>>& statements, std::size_t maximum) {
  constraints.check_not_null(path, statements.has_value());
  if (!statements) return;
  const std::size_t count = statements->size();
  constraints.check_count(path, count, 1, maximum, count == 0 ? "[]" : "[" + std::to_string(count) + " statements]");
  for (std::size_t i = 0; i < statements->size(); ++i)
    check_statement(constraints, path + "." + std::to_string(i + 1) + ".member.", (*statements)[i]);
}

partiql::Statement statement_of(StatementInput& input) {
  partiql::Statement statement;
  statement.text = *std::move(input.statement);
  statement.has_parameters = input.parameters.has_value();
  for (std::size_t i = 0; input.parameters && i < input.parameters->size(); ++i) {
    ValueInput& parameter = (*input.parameters)[i];
    if (parameter.fault && !statement.parameter_fault) statement.parameter_fault = std::move(parameter.fault);
    statement.parameters.push_back(std::move(parameter.value));
  }
  return statement;
}

void write_result(JsonWriter& json, const partiql::BatchStatementResult& result) {
  json.begin_object();
  if (result.error) {
    json.key("Error").begin_object().key("Code").string(result.error->code);
    if (result.error->item) json.key("Item").item(*result.error->item);
    json.key("Message").string(result.error->message).end_object();
  }
  if (result.item) json.key("Item").item(*result.item);
  if (!result.table_name.empty()) json.key("TableName").string(result.table_name);
  json.end_object();
}

}  // namespace

store::Answer<partiql::ExecuteStatementRequest> ExecuteStatement::decode(Input input) {
  Constraints constraints;
  check_statement(constraints, "", input);
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  if (input.limit) constraints.check_at_least("limit", *input.limit, 1);
  if (input.next_token) constraints.check_length("nextToken", *input.next_token, 1, partiql::max_next_token_length);
  TRY_VOID(constraints.outcome());
  Request request;
  request.statement = statement_of(input);
  request.consistent_read = input.consistent_read.value_or(false);
  request.next_token = std::move(input.next_token);
  request.limit = input.limit;
  request.return_consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  request.return_item_on_failure = returns_item_on_failure(input.return_values_on_failure);
  return request;
}

void ExecuteStatement::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.partiql->execute_statement(request, std::move(done));
}

void ExecuteStatement::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  json.key("Items").items(response.items);
  if (response.last_evaluated_key) json.key("LastEvaluatedKey").item(*response.last_evaluated_key);
  if (response.next_token) json.key("NextToken").string(*response.next_token);
  json.end_object();
}

store::Answer<partiql::BatchExecuteStatementRequest> BatchExecuteStatement::decode(Input input) {
  Constraints constraints;
  check_statements(constraints, "statements", input.statements, partiql::max_batch_statements);
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  TRY_VOID(constraints.outcome());
  Request request;
  request.return_consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  for (StatementInput& each : *input.statements) {
    partiql::BatchStatement& statement = request.statements.emplace_back();
    statement.consistent_read = each.consistent_read.value_or(false);
    statement.return_item_on_failure = returns_item_on_failure(each.return_values_on_failure);
    statement.statement = statement_of(each);
  }
  return request;
}

void BatchExecuteStatement::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.partiql->batch_execute_statement(request, std::move(done));
}

void BatchExecuteStatement::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  json.key("Responses").begin_array();
  for (const partiql::BatchStatementResult& result : response.results) write_result(json, result);
  json.end_array().end_object();
}

store::Answer<partiql::ExecuteTransactionRequest> ExecuteTransaction::decode(Input input) {
  Constraints constraints;
  check_statements(constraints, "transactStatements", input.transact_statements, partiql::max_transaction_statements);
  if (input.client_request_token)
    constraints.check_length("clientRequestToken", *input.client_request_token, 1,
                             store::max_client_request_token_length);
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  TRY_VOID(constraints.outcome());
  Request request;
  request.client_request_token = std::move(input.client_request_token);
  request.return_consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  for (StatementInput& each : *input.transact_statements) {
    partiql::TransactStatement& statement = request.statements.emplace_back();
    statement.return_item_on_failure = returns_item_on_failure(each.return_values_on_failure);
    statement.statement = statement_of(each);
  }
  return request;
}

void ExecuteTransaction::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.partiql->execute_transaction(request, std::move(done));
}

void ExecuteTransaction::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  write_responses(json, response.items);
  json.end_object();
}

}  // namespace postino::wire
