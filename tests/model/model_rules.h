// What makes the model refuse a request.
#pragma once

#include "model_store.h"

namespace postino::model {

inline const std::string were_invalid = "One or more parameter values were invalid: ";  // how many messages begin

Expected<void> check_key(const ModelTable& table, const item::Key& key);
Expected<void> check_key_not_empty(const ModelTable& table, const item::Map& item);
// The item of a put. In a batch every fault of its key has the same wording.
Expected<void> check_item(const ModelTable& table, const item::Item& item, bool in_batch);
// Attributes that an update wrote must fit the indexes they are keys of.
Expected<void> check_updated(const ModelTable& table, const Update& update, const item::Item& after);
Expected<void> check_targets(const ModelTable& table, const Update& update);

}  // namespace postino::model
