// From a checked request to the table it defines. The caller that commits it sets the ids.
#pragma once

#include "engine/catalog/table.h"
#include "engine/storage/options.h"
#include "store/table_operations.h"

namespace postino::engine {

Table make_table(const store::CreateTableRequest& request, const Options& options, base::TimePoint now);

// An index of a table whose attribute definitions and billing mode are known. It is ready; a caller that adds it to a
// table with items sets its backfill.
Index make_index(const store::GlobalIndexDefinition& definition, const Table& table, base::TimePoint now);

// Raises each value to at least that level. Warm throughput never falls.
void raise_warm(store::Throughput& warm, const store::Throughput& level);

}  // namespace postino::engine
