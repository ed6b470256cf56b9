// Asked before a statement is run, when it is known what it does: whether its author may do that.
#pragma once

#include <memory>

#include "partiql/read_plan.h"
#include "partiql/write_plan.h"

namespace postino::partiql {

// Safe to use from any thread. What it refuses is not run; of a transaction, nothing is.
class StatementGate {
 public:
  virtual ~StatementGate() = default;

  virtual store::Answer<void> check_read(const ReadPlan& plan) const = 0;
  virtual store::Answer<void> check_write(const WritePlan& plan, const Source& table,
                                          bool return_item_on_failure) const = 0;
  // The table or the index of the statement is not there: whether its author may be told so.
  virtual store::Answer<void> check_missing(const StatementTree& statement) const = 0;
};

// Of a request; without a gate, everything passes.
using StatementGatePointer = std::shared_ptr<const StatementGate>;

// What planning yields passes the gate, or its error does.
store::Answer<ReadPlan> pass(const StatementGatePointer& gate, const StatementTree& statement,
                             store::Answer<ReadPlan> plan);
store::Answer<WritePlan> pass(const StatementGatePointer& gate, const StatementTree& statement, const Source& table,
                              bool return_item_on_failure, store::Answer<WritePlan> plan);
// The table of a statement that writes.
store::Answer<store::TableDescription> pass(const StatementGatePointer& gate, const StatementTree& statement,
                                            store::Answer<store::TableDescription> table);

}  // namespace postino::partiql
