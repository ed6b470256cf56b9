#include "partiql/statement_gate.h"

namespace postino::partiql {

store::Answer<ReadPlan> pass(const StatementGatePointer& gate, const StatementTree& statement,
                             store::Answer<ReadPlan> plan) {
  if (!gate) return plan;
  // Also what is wrong with a statement tells of its table.
  if (!plan)
    TRY_VOID(gate->check_missing(statement));
  else
    TRY_VOID(gate->check_read(*plan));
  return plan;
}

store::Answer<WritePlan> pass(const StatementGatePointer& gate, const StatementTree& statement, const Source& table,
                              bool return_item_on_failure, store::Answer<WritePlan> plan) {
  if (!gate) return plan;
  if (!plan)
    TRY_VOID(gate->check_missing(statement));
  else
    TRY_VOID(gate->check_write(*plan, table, return_item_on_failure));
  return plan;
}

store::Answer<store::TableDescription> pass(const StatementGatePointer& gate, const StatementTree& statement,
                                            store::Answer<store::TableDescription> table) {
  if (gate && !table) TRY_VOID(gate->check_missing(statement));
  return table;
}

}  // namespace postino::partiql
