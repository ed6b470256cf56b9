#include "engine/items/item_write.h"

#include "engine/catalog/item_keys.h"
#include "engine/items/key_rules.h"
#include "engine/items/parsed_expression.h"
#include "item/size.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

const item::Item no_item;

// The expressions of any write, in DynamoDB's order: the maps, the update, the condition, then what was not used.
template <class Request>
store::Answer<void> bind_expressions(const Request& request, ItemWrite& write) {
  constexpr bool can_update = requires { request.update; };
  bool any_expression = request.condition.has_value();
  if constexpr (can_update) any_expression = any_expression || request.update.has_value();
  expr::Binder binder(request.placeholders);
  TRY_VOID(binder.check_maps(any_expression, can_update ? "UpdateExpression and ConditionExpression are null"
                                                        : "ConditionExpression is null"));
  if constexpr (can_update) {
    if (request.update) {
      TRY(const expr::Update update, parsed(*request.update));
      TRY(write.update, binder.bind(update));
    }
  }
  if (request.condition) {
    TRY(const expr::Condition condition, parsed(*request.condition, expr::Kind::condition));
    TRY(write.condition, binder.bind(condition));
  }
  TRY_VOID(binder.check_all_used());
  return {};
}

// DynamoDB knows an item that is too large before it knows the table.
store::Answer<StoredItemPointer> item_to_put(const item::Item& item) {
  StoredItemPointer stored = store_item(item);
  if (stored->size > item::max_item_size) return refuse_invalid("Item size has exceeded the maximum allowed size");
  return stored;
}

template <class Request>
store::Answer<ItemWrite> prepare_write(WriteAction action, const item::Map& subject, const Request& request) {
  ItemWrite write;
  write.action = action;
  write.table_name = &request.table_name;
  write.subject = &subject;
  write.return_item_on_failure = request.return_item_on_failure;
  TRY_VOID(check_attributes(subject));
  if (request.placeholders.values)
    for (const item::Attribute& value : *request.placeholders.values) TRY_VOID(item::check_nesting(value.value));
  if (action == WriteAction::put) {
    TRY(write.replacement, item_to_put(subject));
  }
  TRY_VOID(bind_expressions(request, write));
  return write;
}

template <class Request>
store::Answer<ItemWrite> prepare_without_updated_values(WriteAction action, const item::Map& subject,
                                                        const Request& request) {
  if (request.return_values != store::ReturnValues::none && request.return_values != store::ReturnValues::all_old)
    return refuse_invalid("ReturnValues can only be ALL_OLD or NONE");
  return prepare_write(action, subject, request);
}

store::Answer<void> check_targets(const Table& table, const expr::BoundUpdate& update) {
  for (const expr::BoundUpdate::Target& target : update.targets()) {
    if (table.is_key(target.name)) {
      if (target.nested)
        return refuse_invalid(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: " +
            std::string(target.name));
      return refuse_invalid("One or more parameter values were invalid: Cannot update attribute " +
                            std::string(target.name) + ". This attribute is part of the key");
    }
    if (!target.nested) continue;
    for (const Index& index : table.indexes)
      for (const auto* parts : {&index.hash, &index.range})
        for (const KeyPart& part : *parts)
          if (part.name == target.name)
            return refuse_invalid(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
                "IndexKey: " +
                part.name);
  }
  return {};
}

store::Answer<void> check_condition(const ItemWrite& write, const StoredItemPointer& before) {
  if (!write.condition || write.condition->matches(before ? before->item : no_item)) return {};
  store::Error error(store::ErrorType::conditional_check_failed, "The conditional request failed");
  if (write.return_item_on_failure && before) {
    auto details = std::make_shared<store::ErrorDetails>();
    details->item = before->item;
    error.details = std::move(details);
  }
  return base::propagate(std::move(error));
}

store::Answer<StoredItemPointer> apply_update(const ItemWrite& write, const StoredItemPointer& before) {
  const item::Map& start = before ? before->item : *write.subject;
  if (!write.update) return before ? before : store_item(start);
  // Removing from what is not there does not create it, and no path is wrong in it.
  if (!before && !write.update->creates()) return StoredItemPointer();
  TRY(item::Map after, write.update->apply(start));
  TRY_VOID(item::check_nesting(after));
  std::vector<UpdatedAttribute> updated;
  for (const expr::BoundUpdate::Target& target : write.update->targets())
    updated.push_back({target.name, target.computed});
  TRY_VOID(check_updated_index_keys(*write.table, after, updated));
  StoredItemPointer stored = store_item(std::move(after));
  if (std::max(stored->size, write.update->written_size()) > item::max_item_size)
    return refuse_invalid("Item size to update has exceeded the maximum allowed size");
  return stored;
}

}  // namespace

store::Answer<ItemWrite> prepare(const store::PutItemRequest& request) {
  return prepare_without_updated_values(WriteAction::put, request.item, request);
}
store::Answer<ItemWrite> prepare(const store::UpdateItemRequest& request) {
  return prepare_write(WriteAction::update, request.key, request);
}
store::Answer<ItemWrite> prepare(const store::DeleteItemRequest& request) {
  return prepare_without_updated_values(WriteAction::remove, request.key, request);
}
store::Answer<ItemWrite> prepare(const store::TransactPut& request) {
  return prepare_write(WriteAction::put, request.item, request);
}
store::Answer<ItemWrite> prepare(const store::TransactUpdate& request) {
  return prepare_write(WriteAction::update, request.key, request);
}
store::Answer<ItemWrite> prepare(const store::TransactDelete& request) {
  return prepare_write(WriteAction::remove, request.key, request);
}
store::Answer<ItemWrite> prepare(const store::TransactConditionCheck& request) {
  return prepare_write(WriteAction::check, request.key, request);
}

store::Answer<ItemWrite> prepare(const std::string& table_name, const store::BatchWrite& request) {
  const auto* put = std::get_if<store::BatchPut>(&request);
  ItemWrite write;
  write.action = put != nullptr ? WriteAction::put : WriteAction::remove;
  write.table_name = &table_name;
  write.subject = put != nullptr ? &put->item : &std::get<store::BatchDelete>(request).key;
  TRY_VOID(check_attributes(*write.subject));
  if (put != nullptr) {
    TRY(write.replacement, item_to_put(put->item));
  }
  return write;
}

store::Answer<void> locate(ItemWrite& write) {
  const Table& table = *write.table;
  if (write.action == WriteAction::put)
    TRY_VOID(check_item(table, *write.subject));
  else
    TRY_VOID(check_key(table, *write.subject));
  if (write.update) TRY_VOID(check_targets(table, *write.update));
  if (write.condition) TRY_VOID(check_scalar_keys(table, write.condition->nested_attributes()));
  write.key = item_key(table, *write.subject);
  return {};
}

store::Answer<StoredItemPointer> decide(const ItemWrite& write, const StoredItemPointer& before) {
  TRY_VOID(check_condition(write, before));
  switch (write.action) {
    case WriteAction::put:
      return write.replacement;
    case WriteAction::remove:
      return StoredItemPointer();
    case WriteAction::check:
      return before;
    case WriteAction::update:
      break;
  }
  return apply_update(write, before);
}

}  // namespace postino::engine
