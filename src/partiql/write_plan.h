// How a statement that writes, or a check in a transaction, becomes a request to the store.
#pragma once

#include <optional>
#include <string>

#include "partiql/checked_statement.h"
#include "partiql/source.h"
#include "store/transaction.h"

namespace postino::partiql {

struct WritePlan {
  enum class Action { insert, update, remove, check };
  Action action = Action::insert;
  std::string table_name;
  item::Map subject;  // the item to insert, or the key
  std::optional<store::UpdateExpression> update;
  std::optional<store::ConditionExpression> condition;
  expr::Placeholders placeholders;
  store::ReturnValues return_values = store::ReturnValues::none;

  bool inserts() const { return action == Action::insert; }
};

// For INSERT, UPDATE and DELETE alone or in a batch.
store::Answer<WritePlan> plan_write(CheckedStatement checked, const Source& table);

// The same in a transaction, where EXISTS is allowed too and keys are refused in other words. Errors are those of one
// statement, which cancel the transaction.
store::Answer<WritePlan> plan_transaction_write(CheckedStatement checked, const Source& table);

// What refuses a statement of a transaction as such: RETURNING, and EXISTS that asks for nothing but the item.
store::Answer<void> check_transaction_write(const CheckedStatement& checked, const Source& table);

// The key of the item that the plan is about; it has all key attributes, unless the store will refuse it.
item::Key key_of(const WritePlan& plan, const Source& table);

store::TransactAction transact_action(WritePlan plan, bool return_item_on_failure);

// Runs the plan, which must not be a check. The answer's error is worded for statements.
void run_write(store::Store& store, WritePlan plan, store::ReturnConsumedCapacity return_consumed_capacity,
               bool return_item_on_failure, store::Completion<store::WriteItemResponse> done);

}  // namespace postino::partiql
