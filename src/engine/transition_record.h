// The stored form of a table's transition, as a field of its record.
#pragma once

#include <string>

#include "engine/record_fields.h"
#include "engine/table.h"

namespace postino::engine {

RecordWriter write_transition(const Transition& transition);
Transition read_transition(const std::string& table_name, const RecordReader& reader);

}  // namespace postino::engine
