// A table while it is being updated, as callers see it.
#pragma once

#include "engine/tables/table_update_plan.h"
#include "store/table.h"

namespace postino::engine {

// What UpdateTable answers: changes that take DynamoDB a while are shown as under way, the others as done.
store::TableDescription describe_update(const Core& core, const store::UpdateTableRequest& request, const Table& before,
                                        const UpdatePlan& plan);

}  // namespace postino::engine
