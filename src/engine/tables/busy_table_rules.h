// What may not be done to a table while something else is being done to it, and what may not be done again too soon.
// Transitions come from Options::realistic_timing, so these rules are DynamoDB's, kept with its texts.
#pragma once

#include "engine/catalog/catalog.h"
#include "store/error.h"

namespace postino::engine {

// Why a table of the same name cannot be created.
store::Error in_the_way(const Table& existing);
store::Answer<void> check_may_delete(const Table& table);
// A restore needs its source to its end. That is a rule of ours.
store::Answer<void> check_not_restored_from(const CatalogState& state, const Table& source);
store::Answer<void> check_may_update(const Table& table, const store::UpdateTableRequest& request);
// Time to live and tags.
store::Answer<void> check_may_change_settings(const Table& table);

// Cooldowns.
store::Answer<void> check_protection_cooldown(const Table& table, const store::UpdateTableRequest& request,
                                              base::TimePoint now);
store::Answer<void> check_time_to_live_cooldown(const Table& table, base::TimePoint now);

}  // namespace postino::engine
