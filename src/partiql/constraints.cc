#include "partiql/constraints.h"

#include "base/text.h"
#include "partiql/parse.h"
#include "store/constraints.h"

namespace postino::partiql {

namespace {

using store::Constraints;

constexpr std::string_view at_least_one = "Member must have length greater than or equal to 1";

void check(Constraints& constraints, const std::string& prefix, const Statement& statement) {
  if (statement.text.empty()) constraints.refuse(prefix + "statement", statement.text, at_least_one);
  if (base::character_count(statement.text) > max_statement_length)
    constraints.refuse(prefix + "statement", statement.text,
                       "Member must have length less than or equal to " + std::to_string(max_statement_length));
  if (statement.has_parameters && statement.parameters.empty() && !statement.parameter_fault)
    constraints.refuse(prefix + "parameters", "[]", at_least_one);
}

template <class Statements>
store::Answer<void> check_statements(const std::string& path, const Statements& statements, std::size_t most) {
  // DynamoDB prints the whole list here, in a form of its own.
  if (statements.size() > most)
    return store::refuse_invalid("1 validation error detected: Value at '" + path +
                                 "' failed to satisfy constraint: Member must have length less than or equal to " +
                                 std::to_string(most));
  Constraints constraints;
  if (statements.empty()) constraints.refuse(path, "[]", at_least_one);
  for (std::size_t i = 0; i < statements.size(); ++i)
    check(constraints, path + "." + std::to_string(i + 1) + ".member.", statements[i].statement);
  return constraints.outcome();
}

}  // namespace

store::Answer<void> check_shape(const ExecuteStatementRequest& request) {
  Constraints constraints;
  check(constraints, "", request.statement);
  if (request.limit) constraints.check_at_least("limit", *request.limit, 1);
  if (request.next_token) constraints.check_length("nextToken", *request.next_token, 1, max_next_token_length);
  return constraints.outcome();
}

store::Answer<void> check_shape(const BatchExecuteStatementRequest& request) {
  return check_statements("statements", request.statements, max_batch_statements);
}

store::Answer<void> check_shape(const ExecuteTransactionRequest& request) {
  TRY_VOID(check_statements("transactStatements", request.statements, max_transaction_statements));
  Constraints constraints;
  if (request.client_request_token)
    constraints.check_length("clientRequestToken", *request.client_request_token, 1, 36);
  return constraints.outcome();
}

}  // namespace postino::partiql
