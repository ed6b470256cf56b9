// Tables as the API describes them.
#pragma once

#include "store/table.h"
#include "wire/protocol/json_writer.h"

namespace postino::wire {

void write(JsonWriter& json, const store::TableDescription& table);
void write(JsonWriter& json, const store::KeySchema& schema);

}  // namespace postino::wire
