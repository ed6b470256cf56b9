// Runs PartiQL statements on a store. What they write goes the way of every other write.
//
// Safe to use from any thread. Reads are done when a function returns; writes answer when they are durable, without a
// thread waiting for the disk. Completions are as the store's: called exactly once, possibly before the function
// returns, and must not block.
#pragma once

#include "partiql/requests.h"
#include "store/store.h"

namespace postino::partiql {

class Executor {
 public:
  // The store must outlive the executor and everything that it was asked to do.
  explicit Executor(store::Store& store) : store_(store) {}

  void execute_statement(const ExecuteStatementRequest& request, store::Completion<ExecuteStatementResponse> done);
  // Statements of a batch run side by side, and fail alone.
  void batch_execute_statement(const BatchExecuteStatementRequest& request,
                               store::Completion<BatchExecuteStatementResponse> done);
  void execute_transaction(const ExecuteTransactionRequest& request,
                           store::Completion<ExecuteTransactionResponse> done);

 private:
  store::Store& store_;
};

}  // namespace postino::partiql
