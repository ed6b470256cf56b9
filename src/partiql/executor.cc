#include "partiql/executor.h"

#include "partiql/checked_statement.h"
#include "partiql/constraints.h"
#include "partiql/errors.h"
#include "partiql/page_token.h"
#include "partiql/read_page.h"
#include "partiql/statement_gate.h"
#include "partiql/write_plan.h"

namespace postino::partiql {

namespace {

store::Answer<CheckedStatement> checked(const ExecuteStatementRequest& request) {
  TRY_VOID(check_shape(request));
  TRY_VOID(check_parameters(request.statement));
  TRY(ParsedStatement tree, parse(request.statement));
  TRY_VOID(check_not_exists(*tree));
  return check_statement(request.statement, std::move(tree));
}

store::Answer<ExecuteStatementResponse> select(store::Store& store, const ExecuteStatementRequest& request,
                                               CheckedStatement statement) {
  const StatementTree& tree = *statement.tree;
  TRY(const ReadPlan plan, pass(request.gate, tree,
                                plan_read(store, std::get<Select>(tree.body), std::move(statement.filter),
                                          *statement.parameters, ReadSetting::statement, request.consistent_read)));
  PagePosition position;
  if (request.next_token) {
    TRY(position, decode_token(fingerprint_of(request.statement), *request.next_token));
  }
  const ReadOptions options{request.consistent_read, request.limit, request.return_consumed_capacity,
                            request.allowance};
  TRY(Page page, read_page(store, plan, options, position));
  ExecuteStatementResponse response;
  response.items = std::move(page.items);
  if (page.next) response.next_token = encode_token(fingerprint_of(request.statement), *page.next);
  response.last_evaluated_key = std::move(page.last_evaluated_key);
  response.consumed_capacity = std::move(page.consumed_capacity);
  return response;
}

store::Answer<WritePlan> planned_write(store::Store& store, const ExecuteStatementRequest& request,
                                       CheckedStatement statement) {
  const ParsedStatement tree = statement.tree;
  const TableReference& reference = table_of(*tree);
  TRY(const store::TableDescription table, pass(request.gate, *tree, find_table(store, reference)));
  const Source source = table_source(table, reference);
  return pass(request.gate, *tree, source, request.return_item_on_failure, plan_write(std::move(statement), source));
}

ExecuteStatementResponse response_of(store::WriteItemResponse written) {
  ExecuteStatementResponse response;
  if (written.attributes) response.items.push_back(*std::move(written.attributes));
  response.consumed_capacity = std::move(written.consumed_capacity);
  return response;
}

}  // namespace

void Executor::execute_statement(const ExecuteStatementRequest& request,
                                 store::Completion<ExecuteStatementResponse> done) {
  store::Answer<CheckedStatement> statement = checked(request);
  if (!statement) return done(base::propagate(std::move(statement).error()));
  if (statement->tree->reads()) {
    store::Answer<ExecuteStatementResponse> response = select(store_, request, *std::move(statement));
    if (!response) return done(base::propagate(reworded(std::move(response).error())));
    return done(std::move(response));
  }
  store::Answer<WritePlan> plan = planned_write(store_, request, *std::move(statement));
  if (!plan) return done(base::propagate(reworded(std::move(plan).error())));
  run_write(store_, *std::move(plan), request.return_consumed_capacity, request.return_item_on_failure,
            [done = std::move(done)](store::Answer<store::WriteItemResponse> written) {
              if (!written) return done(base::propagate(std::move(written).error()));
              done(response_of(*std::move(written)));
            });
}

}  // namespace postino::partiql
