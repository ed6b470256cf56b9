// The stored form of throughput, as fields of the catalog's records.
#pragma once

#include <optional>
#include <string>

#include "engine/storage/record_fields.h"
#include "store/table.h"

namespace postino::engine {

RecordWriter write_throughput_units(const store::Throughput& throughput);
store::Throughput read_throughput_units(const std::optional<RecordReader>& reader);

void write_optional_throughput(RecordWriter& writer, const std::string& name,
                               const std::optional<store::Throughput>& throughput);
std::optional<store::Throughput> read_optional_throughput(const RecordReader& reader, std::string_view name);

RecordWriter write_throughput(const store::ThroughputDescription& throughput);
store::ThroughputDescription read_throughput(const std::optional<RecordReader>& reader);

// The field "on_demand".
void write_on_demand(RecordWriter& writer, const std::optional<store::OnDemandThroughput>& on_demand);
std::optional<store::OnDemandThroughput> read_on_demand(const RecordReader& reader);

}  // namespace postino::engine
