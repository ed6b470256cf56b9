// Changes of tables that take their time (Options::realistic_timing): how they start, and how they end.
//
// A change that is under way is part of its table (Table::transition), so it is on disk and survives a restart. It ends
// when it is due and the next request comes, or when the maintenance thread looks.
#pragma once

#include "engine/tables/table_update_plan.h"

namespace postino::engine {

Transition begin_creation(base::TimePoint now);
Transition begin_deletion(base::TimePoint now);

// What is done of an update at once. Its transition remembers the rest; there is none when there is nothing to wait
// for.
UpdatePlan begin_update(const Table& before, const store::UpdateTableRequest& request, const UpdatePlan& plan,
                        base::TimePoint now);

// Ends every transition that is due. Cheap when none is. Takes the control mutex.
store::Answer<void> complete_due_transitions(Core& core);
// Ends all of them, due or not.
store::Answer<void> complete_all_transitions(Core& core);

// Takes the table and everything in it out of the catalog and off the disk, but for what a backup keeps of it. For
// Core::change_catalog.
void erase_table(Core& core, Table table, CatalogState& state, CommitEntry& entry);

}  // namespace postino::engine
