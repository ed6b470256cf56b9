// The stored form of a table's transition, as a field of its record.
#pragma once

#include <string>

#include "engine/catalog/table.h"
#include "engine/storage/record_fields.h"

namespace postino::engine {

RecordWriter write_transition(const Transition& transition);
Transition read_transition(const std::string& table_name, const RecordReader& reader);

}  // namespace postino::engine
