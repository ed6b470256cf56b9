#include "engine/catalog/throughput_record.h"

namespace postino::engine {

RecordWriter write_throughput_units(const store::Throughput& throughput) {
  return std::move(RecordWriter().integer("read", throughput.read_units).integer("write", throughput.write_units));
}

store::Throughput read_throughput_units(const std::optional<RecordReader>& reader) {
  return reader ? store::Throughput{reader->integer("read"), reader->integer("write")} : store::Throughput{};
}

RecordWriter write_throughput(const store::ThroughputDescription& throughput) {
  return std::move(RecordWriter()
                       .map("provisioned", write_throughput_units(throughput.provisioned))
                       .integer("decreases_today", throughput.decreases_today)
                       .time("last_increase", throughput.last_increase)
                       .time("last_decrease", throughput.last_decrease));
}

store::ThroughputDescription read_throughput(const std::optional<RecordReader>& reader) {
  if (!reader) return {};
  return {read_throughput_units(reader->map("provisioned")), static_cast<int>(reader->integer("decreases_today")),
          reader->optional_time("last_increase"), reader->optional_time("last_decrease")};
}

void write_optional_throughput(RecordWriter& writer, const std::string& name,
                               const std::optional<store::Throughput>& throughput) {
  if (throughput) writer.map(name, write_throughput_units(*throughput));
}

std::optional<store::Throughput> read_optional_throughput(const RecordReader& reader, std::string_view name) {
  const auto map = reader.map(name);
  return map ? std::optional(read_throughput_units(map)) : std::nullopt;
}

void write_on_demand(RecordWriter& writer, const std::optional<store::OnDemandThroughput>& on_demand) {
  if (!on_demand) return;
  writer.map(
      "on_demand",
      std::move(
          RecordWriter().integer("read", on_demand->max_read_units).integer("write", on_demand->max_write_units)));
}

std::optional<store::OnDemandThroughput> read_on_demand(const RecordReader& reader) {
  const auto map = reader.map("on_demand");
  if (!map) return std::nullopt;
  return store::OnDemandThroughput{map->optional_integer("read"), map->optional_integer("write")};
}

}  // namespace postino::engine
