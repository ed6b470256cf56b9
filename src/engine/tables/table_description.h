// A table as callers see it.
#pragma once

#include "engine/catalog/core.h"
#include "store/table.h"

namespace postino::engine {

// As DescribeTable shows it, with live counts and what is under way.
store::TableDescription describe_table(const Core& core, const Table& table);

// The parts. The table as if nothing were under way but the filling of indexes:
store::TableDescription describe_settled(const Core& core, const Table& table);
// while it is made, without what DynamoDB knows only later:
store::TableDescription describe_creation(const Core& core, const Table& table);
store::TableDescription describe_deletion(const Core& core, const Table& table);
store::IndexDescription describe_index(const Core& core, const Table& table, const Index& index);

}  // namespace postino::engine
