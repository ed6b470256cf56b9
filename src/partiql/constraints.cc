#include "partiql/constraints.h"

#include "base/text.h"
#include "partiql/syntax/parse.h"
#include "store/constraints.h"
#include "store/transaction.h"

namespace postino::partiql {

namespace {

using store::Constraints;

void check(Constraints& constraints, const std::string& prefix, const Statement& statement) {
  constraints.check_count(prefix + "statement", base::character_count(statement.text), 1, max_statement_length,
                          statement.text);
  if (statement.has_parameters && !statement.parameter_fault)
    constraints.check_count(prefix + "parameters", statement.parameters.size(), 1, Constraints::any_number, "[]");
}

template <class Statements>
store::Answer<void> check_statements(const std::string& path, const Statements& statements, std::size_t most) {
  // DynamoDB prints the whole list of too many statements, in a form of its own. It is left out here.
  Constraints too_many;
  too_many.check_count(path, statements.size(), 0, most);
  TRY_VOID(too_many.outcome());
  Constraints constraints;
  constraints.check_count(path, statements.size(), 1, most, "[]");
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
    constraints.check_length("clientRequestToken", *request.client_request_token, 1,
                             store::max_client_request_token_length);
  return constraints.outcome();
}

}  // namespace postino::partiql
