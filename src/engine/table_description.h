// A table as callers see it.
#pragma once

#include "engine/core.h"
#include "store/table.h"

namespace postino::engine {

// As DescribeTable shows it: active, with live counts. An index that is being filled is shown as such.
store::TableDescription describe_table(const Core& core, const Table& table);
store::IndexDescription describe_index(const Core& core, const Table& table, const Index& index);

}  // namespace postino::engine
