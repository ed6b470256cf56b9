// ExecuteTransaction: all statements or none.
#include "partiql/checked_statement.h"
#include "partiql/constraints.h"
#include "partiql/errors.h"
#include "partiql/executor.h"
#include "partiql/keyed_where.h"
#include "partiql/read_page.h"
#include "partiql/statement_gate.h"
#include "partiql/syntax/columns.h"
#include "partiql/syntax/wording.h"
#include "partiql/write_plan.h"

namespace postino::partiql {

namespace {

using store::CancellationReason;
using store::refuse_invalid;

store::Error failed_in(std::size_t statement, store::Error error) {
  error.message =
      "Validation failed in TransactStatements[" + std::to_string(statement) + "]: " + std::move(error.message);
  return error;
}

// Collects why the transaction cannot go on; DynamoDB looks at all statements first.
class Reasons {
 public:
  explicit Reasons(std::size_t count) : reasons_(count) {}

  void add(std::size_t statement, const store::Error& error) {
    reasons_[statement].code = store::cancellation_code(error.type);
    reasons_[statement].message = error.message;
    any_ = true;
  }
  store::Answer<void> outcome() && {
    if (any_) return base::propagate(store::transaction_cancelled(std::move(reasons_)));
    return {};
  }

 private:
  std::vector<CancellationReason> reasons_;
  bool any_ = false;
};

store::Answer<std::vector<ParsedStatement>> parse_all(const ExecuteTransactionRequest& request) {
  for (const TransactStatement& statement : request.statements) TRY_VOID(check_parameters(statement.statement));
  std::vector<ParsedStatement> trees;
  bool reads = false, writes = false;
  for (std::size_t i = 0; i < request.statements.size(); ++i) {
    store::Answer<ParsedStatement> tree = parse(request.statements[i].statement);
    if (!tree) return base::propagate(failed_in(i, std::move(tree).error()));
    ((*tree)->reads() ? reads : writes) = true;
    trees.push_back(*std::move(tree));
  }
  if (reads && writes)
    return refuse_invalid(
        "ExecuteTransaction API does not support both read and write operations in the same request.");
  return trees;
}

// Who may not do one of the statements does none.
bool is_denied(const store::Error& error) { return error.type == store::ErrorType::access_denied; }

bool is_missing_table(const store::Error& error) { return error.type == store::ErrorType::resource_not_found; }

store::Answer<std::vector<ReadPlan>> plan_reads(store::Store& store, const ExecuteTransactionRequest& request,
                                                const std::vector<ParsedStatement>& trees) {
  std::vector<ReadPlan> plans;
  Reasons reasons(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto planned = [&]() -> store::Answer<ReadPlan> {
      TRY(CheckedStatement checked, check_statement(request.statements[i].statement, trees[i]));
      return pass(request.gate, *trees[i],
                  plan_read(store, std::get<Select>(trees[i]->body), std::move(checked.filter), *checked.parameters,
                            ReadSetting::transaction, true));
    }();
    if (!planned && is_denied(planned.error())) return base::propagate(planned.error());
    if (!planned && !is_missing_table(planned.error())) return base::propagate(failed_in(i, reworded(planned.error())));
    if (!planned) {
      reasons.add(i, planned.error());
      continue;
    }
    const auto valid = check_key_types(*planned->key_of(planned->ranges.front()), planned->source.key);
    if (!valid) reasons.add(i, valid.error());
    plans.push_back(*std::move(planned));
  }
  TRY_VOID(std::move(reasons).outcome());
  return plans;
}

store::Answer<ExecuteTransactionResponse> read_all(store::Store& store, const ExecuteTransactionRequest& request,
                                                   const std::vector<ParsedStatement>& trees) {
  TRY(const std::vector<ReadPlan> plans, plan_reads(store, request, trees));
  store::TransactGetItemsRequest gets;
  gets.return_consumed_capacity = request.return_consumed_capacity;
  gets.allowance = request.allowance;
  for (const ReadPlan& plan : plans) {
    store::TransactGet& get = gets.gets.emplace_back();
    Substitutions substitutions;
    get.table_name = plan.source.table_name;
    get.key = *plan.key_of(plan.ranges.front());
    get.projection = projection_of(plan, substitutions);
    get.placeholders = std::move(substitutions).take();
  }
  TRY(store::TransactGetItemsResponse read, store.transact_get_items(gets));
  ExecuteTransactionResponse response;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::optional<item::Item>& item = read.items[i];
    if (item && plans[i].columns) item = take_columns(*plans[i].columns, *item);
    response.items.push_back(std::move(item));
  }
  response.consumed_capacity = std::move(read.consumed_capacity);
  return response;
}

struct PlannedWrites {
  store::TransactWriteItemsRequest request;
  std::vector<bool> inserts;
};

// What refuses the whole request has its place before what cancels the transaction.
store::Answer<PlannedWrites> plan_writes(store::Store& store, const ExecuteTransactionRequest& request,
                                         const std::vector<ParsedStatement>& trees) {
  PlannedWrites planned;
  planned.request.client_request_token = request.client_request_token;
  planned.request.report.consumed_capacity = request.return_consumed_capacity;
  Reasons reasons(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    store::Answer<CheckedStatement> checked = check_statement(request.statements[i].statement, trees[i]);
    if (!checked) return base::propagate(failed_in(i, std::move(checked).error()));
    const TableReference& reference = table_of(*trees[i]);
    const store::Answer<store::TableDescription> table = pass(request.gate, *trees[i], find_table(store, reference));
    if (!table && !is_missing_table(table.error())) return base::propagate(table.error());
    if (!table) {
      reasons.add(i, table.error());
      continue;
    }
    const Source source = table_source(*table, reference);
    if (auto allowed = check_transaction_write(*checked, source); !allowed)
      return base::propagate(failed_in(i, std::move(allowed).error()));
    store::Answer<WritePlan> plan = pass(request.gate, *trees[i], source, request.statements[i].return_item_on_failure,
                                         plan_transaction_write(*std::move(checked), source));
    if (!plan && is_denied(plan.error())) return base::propagate(plan.error());
    if (!plan) {
      reasons.add(i, reworded(std::move(plan).error()));
      continue;
    }
    planned.inserts.push_back(plan->inserts());
    planned.request.actions.push_back(transact_action(*std::move(plan), request.statements[i].return_item_on_failure));
  }
  TRY_VOID(std::move(reasons).outcome());
  return planned;
}

// The store's reasons, with those of statements where they differ.
store::Error reworded_transaction(store::Error error, const std::vector<bool>& inserts) {
  if (error.type != store::ErrorType::transaction_canceled || !error.details) return reworded(std::move(error));
  std::vector<CancellationReason> reasons = error.details->reasons;
  for (std::size_t i = 0; i < reasons.size() && i < inserts.size(); ++i) {
    if (inserts[i] && reasons[i].code == store::cancellation_code(store::ErrorType::conditional_check_failed)) {
      reasons[i].code = store::cancellation_code(store::ErrorType::duplicate_item);
      reasons[i].message = duplicate_item_message;
      reasons[i].item.reset();
    } else {
      reword(reasons[i].message, reasons[i].rule);
    }
  }
  return store::transaction_cancelled(std::move(reasons));
}

}  // namespace

void Executor::execute_transaction(const ExecuteTransactionRequest& request,
                                   store::Completion<ExecuteTransactionResponse> done) {
  if (auto shaped = check_shape(request); !shaped) return done(base::propagate(std::move(shaped).error()));
  store::Answer<std::vector<ParsedStatement>> trees = parse_all(request);
  if (!trees) return done(base::propagate(std::move(trees).error()));
  if (trees->front()->reads()) {
    store::Answer<ExecuteTransactionResponse> response = read_all(store_, request, *trees);
    if (!response) return done(base::propagate(reworded_transaction(std::move(response).error(), {})));
    return done(std::move(response));
  }
  store::Answer<PlannedWrites> planned = plan_writes(store_, request, *trees);
  if (!planned) return done(base::propagate(std::move(planned).error()));
  store_.transact_write_items(planned->request, [done = std::move(done), inserts = planned->inserts](
                                                    store::Answer<store::TransactWriteItemsResponse> written) {
    if (!written) return done(base::propagate(reworded_transaction(std::move(written).error(), inserts)));
    ExecuteTransactionResponse response;
    response.consumed_capacity = std::move(written->consumed_capacity);
    done(std::move(response));
  });
}

}  // namespace postino::partiql
