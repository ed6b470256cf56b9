// Tables as the API describes them.
#pragma once

#include "store/table.h"
#include "store/table_operations.h"
#include "wire/protocol/json_writer.h"

namespace postino::wire {

void write(JsonWriter& json, const store::TableDescription& table);
// Of a table that is being deleted: without what it is made of.
void write_deleted(JsonWriter& json, const store::TableDescription& table);
void write(JsonWriter& json, const store::KeySchema& schema);
// What a table is to be made of, as an import shows it.
void write_creation(JsonWriter& json, const store::CreateTableRequest& request);
// As a backup describes the table that it is of: the members of SourceTableDetails and SourceTableFeatureDetails.
void write_source(JsonWriter& json, const store::TableDescription& table);
void write_source_features(JsonWriter& json, const store::TableDescription& table,
                           const std::optional<std::string>& time_to_live_attribute);

}  // namespace postino::wire
