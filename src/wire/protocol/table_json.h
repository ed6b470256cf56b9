// Tables as the API describes them.
#pragma once

#include "store/table.h"
#include "wire/protocol/json_writer.h"

namespace postino::wire {

void write(JsonWriter& json, const store::TableDescription& table);
// Of a table that is being deleted: without what it is made of.
void write_deleted(JsonWriter& json, const store::TableDescription& table);
void write(JsonWriter& json, const store::KeySchema& schema);

}  // namespace postino::wire
