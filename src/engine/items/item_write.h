// A write of one item, from request to decision. Everything here is pure: it can run again after a conflict.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/table.h"
#include "engine/storage/stored_item.h"
#include "expr/expression.h"
#include "store/error.h"
#include "store/transaction.h"

namespace postino::engine {

enum class WriteAction { put, update, remove, check };

// A checked request. Refers to it: the request must outlive this.
struct ItemWrite {
  WriteAction action = WriteAction::put;
  const std::string* table_name = nullptr;
  const item::Map* subject = nullptr;  // the item of a put, the key of anything else
  StoredItemPointer replacement;       // the item of a put, ready to be stored
  std::optional<expr::BoundCondition> condition;
  std::optional<expr::BoundUpdate> update;
  bool return_item_on_failure = false;
};

// Checks all that needs no table: values, placeholders, expressions.
store::Answer<ItemWrite> prepare(const store::PutItemRequest& request);
store::Answer<ItemWrite> prepare(const store::UpdateItemRequest& request);
store::Answer<ItemWrite> prepare(const store::DeleteItemRequest& request);
store::Answer<ItemWrite> prepare(const store::TransactPut& request);
store::Answer<ItemWrite> prepare(const store::TransactUpdate& request);
store::Answer<ItemWrite> prepare(const store::TransactDelete& request);
store::Answer<ItemWrite> prepare(const store::TransactConditionCheck& request);

// Checks all that needs the table's definition, and returns the stored key.
store::Answer<std::string> locate(const Table& table, const ItemWrite& write);

// What the item becomes, given what it is. Fails when the condition does not hold or the update does not apply.
store::Answer<StoredItemPointer> decide(const Table& table, const ItemWrite& write, const StoredItemPointer& before);

}  // namespace postino::engine
