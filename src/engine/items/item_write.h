// A write of one item, from request to decision. Everything here is pure: it can run again after a conflict.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/table.h"
#include "engine/storage/stored_item.h"
#include "expr/expression.h"
#include "store/error.h"
#include "store/item_operations.h"
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

  // Where the item is. Found when the write is located, and found again when the table was changed before the key was
  // locked.
  TablePointer table;
  std::string key;  // as stored
};

// Checks all that needs no table: values, placeholders, expressions.
store::Answer<ItemWrite> prepare(const store::PutItemRequest& request);
store::Answer<ItemWrite> prepare(const store::UpdateItemRequest& request);
store::Answer<ItemWrite> prepare(const store::DeleteItemRequest& request);
store::Answer<ItemWrite> prepare(const store::TransactPut& request);
store::Answer<ItemWrite> prepare(const store::TransactUpdate& request);
store::Answer<ItemWrite> prepare(const store::TransactDelete& request);
store::Answer<ItemWrite> prepare(const store::TransactConditionCheck& request);
store::Answer<ItemWrite> prepare(const std::string& table_name, const store::BatchWrite& request);

// Checks all that needs the table's definition, and sets the key. The table is set already.
store::Answer<void> locate(ItemWrite& write);

// What the item becomes, given what it is. Fails when the condition does not hold or the update does not apply.
store::Answer<StoredItemPointer> decide(const ItemWrite& write, const StoredItemPointer& before);

}  // namespace postino::engine
