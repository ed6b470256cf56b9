#include "model_store.h"

#include <algorithm>

#include "model_rules.h"

namespace postino::model {

namespace {

const item::Item absent_item;

std::optional<item::Item> none_if_empty(item::Item item) {
  return item.empty() ? std::nullopt : std::optional<item::Item>(std::move(item));
}

std::optional<item::Item> returned(const WriteOperation& operation, const Effect& effect) {
  switch (operation.return_values) {
    case store::ReturnValues::none:
      return std::nullopt;
    case store::ReturnValues::all_old:
      return effect.before;
    case store::ReturnValues::all_new:
      return effect.after;
    case store::ReturnValues::updated_old:
      if (!effect.before || !operation.update) return std::nullopt;
      return none_if_empty(operation.update->touched(*effect.before));
    case store::ReturnValues::updated_new:
      if (!effect.after || !operation.update) return std::nullopt;
      return none_if_empty(operation.update->touched(*effect.after));
  }
  return std::nullopt;
}

Expected<std::optional<item::Item>> updated(const ModelTable& table, const WriteOperation& operation,
                                            const item::Item* before) {
  const item::Item& start = before == nullptr ? operation.subject : *before;
  if (!operation.update) return start;
  if (before == nullptr && !operation.update->creates()) return std::nullopt;
  UpdateResult result = operation.update->apply(start);
  if (!result.item) return invalid(result.faults);
  TRY_VOID(check_updated(table, *operation.update, *result.item));
  return std::move(result.item);
}

}  // namespace

Expected<void> ModelStore::check_request(const WriteOperation& operation) const {
  const bool only_old = operation.kind == WriteOperation::Kind::put || operation.kind == WriteOperation::Kind::remove;
  if (only_old && operation.return_values > store::ReturnValues::all_old)
    return invalid({"ReturnValues can only be ALL_OLD or NONE"});
  if (operation.update && operation.update->is_invalid()) return invalid();
  if (operation.condition && operation.condition->is_invalid()) return invalid();
  return {};
}

Expected<void> ModelStore::check_schema(const WriteOperation& operation) const {
  const ModelTable& table = tables.at(operation.table);
  if (operation.kind == WriteOperation::Kind::put)
    TRY_VOID(check_item(table, operation.subject, false));
  else
    TRY_VOID(check_key(table, operation.subject));
  if (operation.update) TRY_VOID(check_targets(table, *operation.update));
  return {};
}

Expected<Effect> ModelStore::decide(const WriteOperation& operation) const {
  const ModelTable& table = tables.at(operation.table);
  const item::Item* before = table.find(operation.subject);
  Effect effect;
  if (before != nullptr) effect.before = *before;
  if (operation.condition && !operation.condition->matches(before == nullptr ? absent_item : *before)) {
    Fault failed{store::ErrorType::conditional_check_failed, {"The conditional request failed"}, std::nullopt, {}};
    if (operation.return_item_on_failure) failed.item = effect.before;
    return tl::unexpected<Fault>(std::move(failed));
  }
  switch (operation.kind) {
    case WriteOperation::Kind::put:
      effect.after = operation.subject;
      break;
    case WriteOperation::Kind::remove:
      break;
    case WriteOperation::Kind::check:
      effect.after = effect.before;
      break;
    case WriteOperation::Kind::update: {
      TRY(effect.after, updated(table, operation, before));
      break;
    }
  }
  return effect;
}

void ModelStore::apply(const WriteOperation& operation, const Effect& effect) {
  ModelTable& table = tables.at(operation.table);
  table.change(table.key_of(operation.subject), effect.after, now());
}

Expected<WriteAnswer> ModelStore::write(const WriteOperation& operation) {
  TRY_VOID(check_request(operation));
  if (!tables.contains(operation.table))
    return fault(store::ErrorType::resource_not_found, {"Requested resource not found"});
  TRY_VOID(check_schema(operation));
  TRY(Effect effect, decide(operation));
  apply(operation, effect);
  std::optional<item::Item> attributes = returned(operation, effect);
  return WriteAnswer{std::move(attributes), std::move(effect)};
}

Expected<std::optional<item::Item>> ModelStore::get(const GetOperation& operation) const {
  if (operation.projection && operation.projection->is_invalid()) return invalid();
  if (!tables.contains(operation.table))
    return fault(store::ErrorType::resource_not_found, {"Requested resource not found"});
  const ModelTable& table = tables.at(operation.table);
  TRY_VOID(check_key(table, operation.key));
  const item::Item* found = table.find(operation.key);
  if (found == nullptr) return std::nullopt;
  return operation.projection ? operation.projection->apply(*found) : *found;
}

}  // namespace postino::model
