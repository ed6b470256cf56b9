// BatchExecuteStatement: every statement on its own, all at once.
#include <atomic>
#include <set>

#include "item/binary_codec.h"
#include "partiql/capacity_sum.h"
#include "partiql/checked_statement.h"
#include "partiql/constraints.h"
#include "partiql/errors.h"
#include "partiql/executor.h"
#include "partiql/read_page.h"
#include "partiql/statement_gate.h"
#include "partiql/write_plan.h"

namespace postino::partiql {

namespace {

using store::refuse_invalid;

// A statement that is ready to run, or why it is not.
struct Slot {
  std::optional<ReadPlan> read;
  std::optional<WritePlan> write;
  BatchStatementResult result;
  std::optional<store::ConsumedCapacity> consumed_capacity;
};

void fail(BatchStatementResult& result, const store::Error& error) {
  result.error = BatchStatementError{store::cancellation_code(error.type), error.message, std::nullopt};
  if (error.details) result.error->item = error.details->item;
}

class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(store::Store& store, const BatchExecuteStatementRequest& request,
        store::Completion<BatchExecuteStatementResponse> done)
      : store_(store),
        done_(std::move(done)),
        return_consumed_capacity_(request.return_consumed_capacity),
        gate_(request.gate) {}

  void run(const BatchExecuteStatementRequest& request) {
    if (auto prepared = prepare(request); !prepared) return done_(base::propagate(std::move(prepared).error()));
    pending_ = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i) start(i, request.statements[i], request.allowance);
  }

 private:
  store::Answer<void> prepare(const BatchExecuteStatementRequest& request) {
    TRY_VOID(check_shape(request));
    std::vector<ParsedStatement> trees;
    for (const BatchStatement& statement : request.statements) trees.push_back(parse_slot(statement));
    bool reads = false, writes = false;
    for (const ParsedStatement& tree : trees) {
      if (!tree) continue;
      (tree->reads() ? reads : writes) = true;
    }
    if (reads && writes) return refuse_invalid("Read and write requests together in the same batch is not supported.");
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (trees[i]) plan_slot(slots_[i], request.statements[i], trees[i]);
    return check_distinct();
  }

  ParsedStatement parse_slot(const BatchStatement& statement) {
    Slot& slot = slots_.emplace_back();
    const auto parsed = [&]() -> store::Answer<ParsedStatement> {
      TRY_VOID(check_parameters(statement.statement));
      TRY(ParsedStatement tree, parse(statement.statement));
      TRY_VOID(check_not_exists(*tree));
      return tree;
    }();
    if (parsed) return *parsed;
    fail(slot.result, parsed.error());
    return nullptr;
  }

  void plan_slot(Slot& slot, const BatchStatement& statement, const ParsedStatement& tree) {
    const auto planned = [&]() -> store::Answer<void> {
      TRY(CheckedStatement checked, check_statement(statement.statement, tree));
      const TableReference& reference = table_of(*tree);
      if (tree->reads()) {
        TRY(slot.read, pass(gate_, *tree,
                            plan_read(store_, std::get<Select>(tree->body), std::move(checked.filter),
                                      *checked.parameters, ReadSetting::batch, statement.consistent_read)));
        note_key(*slot.read->key_of(slot.read->ranges.front()), slot.read->source);
        return {};
      }
      TRY(const store::TableDescription table, pass(gate_, *tree, find_table(store_, reference)));
      const Source source = table_source(table, reference);
      TRY(slot.write,
          pass(gate_, *tree, source, statement.return_item_on_failure, plan_write(std::move(checked), source)));
      note_key(key_of(*slot.write, source), source);
      return {};
    }();
    if (planned) {
      slot.result.table_name = table_of(*tree).table;
      return;
    }
    // The error of a missing table names the table; other errors come before the table is looked up.
    if (planned.error().type == store::ErrorType::resource_not_found) slot.result.table_name = table_of(*tree).table;
    fail(slot.result, reworded(planned.error()));
  }

  void note_key(const item::Key& key, const Source& source) {
    std::string bytes = source.table_name + '\0';
    item::encode(bytes, key);
    repeated_ = !keys_.insert(std::move(bytes)).second || repeated_;
  }

  store::Answer<void> check_distinct() const {
    if (repeated_) return refuse_invalid("Provided list of item keys contains duplicates");
    return {};
  }

  void start(std::size_t number, const BatchStatement& statement, store::ReadAllowance* allowance) {
    Slot& slot = slots_[number];
    if (slot.read) {
      // Once the allowance is exhausted, the answer means nothing.
      if (allowance == nullptr || !allowance->exhausted()) read(slot, statement.consistent_read, allowance);
      return finish_one();
    }
    if (!slot.write) return finish_one();
    run_write(store_, *std::move(slot.write), return_consumed_capacity_, statement.return_item_on_failure,
              [batch = shared_from_this(), number](store::Answer<store::WriteItemResponse> written) {
                batch->take(batch->slots_[number], std::move(written));
                batch->finish_one();
              });
  }

  void read(Slot& slot, bool consistent, store::ReadAllowance* allowance) {
    store::Answer<Page> page =
        read_page(store_, *slot.read, {consistent, std::nullopt, return_consumed_capacity_, allowance}, {});
    if (!page) return fail(slot.result, reworded(page.error()));
    slot.consumed_capacity = std::move(page->consumed_capacity);
    if (!page->items.empty()) slot.result.item = std::move(page->items.front());
  }

  static void take(Slot& slot, store::Answer<store::WriteItemResponse> written) {
    if (!written) return fail(slot.result, written.error());
    slot.result.item = std::move(written->attributes);
    slot.consumed_capacity = std::move(written->consumed_capacity);
  }

  // Each statement writes its own slot alone; the statement that finishes last reads them all.
  void finish_one() {
    if (pending_.fetch_sub(1) != 1) return;
    BatchExecuteStatementResponse response;
    CapacitySum capacity;
    for (Slot& slot : slots_) {
      response.results.push_back(std::move(slot.result));
      capacity.add(slot.consumed_capacity);
    }
    response.consumed_capacity = std::move(capacity).all();
    done_(std::move(response));
  }

  store::Store& store_;
  store::Completion<BatchExecuteStatementResponse> done_;
  store::ReturnConsumedCapacity return_consumed_capacity_;
  StatementGatePointer gate_;
  std::vector<Slot> slots_;
  std::set<std::string> keys_;
  bool repeated_ = false;
  std::atomic<std::size_t> pending_ = 0;
};

}  // namespace

void Executor::batch_execute_statement(const BatchExecuteStatementRequest& request,
                                       store::Completion<BatchExecuteStatementResponse> done) {
  std::make_shared<Batch>(store_, request, std::move(done))->run(request);
}

}  // namespace postino::partiql
