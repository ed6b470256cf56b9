#include "engine/catalog/transition_record.h"

#include "engine/catalog/throughput_record.h"
#include "engine/rules/update_table_rules.h"

namespace postino::engine {

namespace {

RecordWriter write_index_update(const store::GlobalIndexUpdate& update) {
  RecordWriter writer;
  writer.text("name", index_name_of(update));
  if (std::holds_alternative<store::DeleteGlobalIndex>(update)) writer.boolean("delete", true);
  if (const auto* changed = std::get_if<store::UpdateGlobalIndex>(&update)) {
    write_optional_throughput(writer, "throughput", changed->throughput);
    write_on_demand(writer, changed->on_demand);
    write_optional_throughput(writer, "warm", changed->warm);
  }
  return writer;
}

store::GlobalIndexUpdate read_index_update(const RecordReader& reader) {
  if (reader.boolean("delete")) return store::DeleteGlobalIndex{reader.text("name")};
  return store::UpdateGlobalIndex{reader.text("name"), read_optional_throughput(reader, "throughput"),
                                  read_on_demand(reader), read_optional_throughput(reader, "warm")};
}

// Creating an index is never left for later.
RecordWriter write_remaining(const store::UpdateTableRequest& request) {
  RecordWriter writer;
  writer.enumeration("billing_mode", request.billing_mode)
      .enumeration("table_class", request.table_class)
      .maps("indexes", request.global_index_updates, write_index_update);
  write_optional_throughput(writer, "throughput", request.throughput);
  write_on_demand(writer, request.on_demand);
  return writer;
}

store::UpdateTableRequest read_remaining(const std::string& table_name, const RecordReader& reader) {
  store::UpdateTableRequest request;
  request.table_name = table_name;
  request.billing_mode = reader.optional_enumeration<store::BillingMode>("billing_mode");
  request.table_class = reader.optional_enumeration<store::TableClass>("table_class");
  for (const RecordReader& update : reader.maps("indexes"))
    request.global_index_updates.push_back(read_index_update(update));
  request.throughput = read_optional_throughput(reader, "throughput");
  request.on_demand = read_on_demand(reader);
  return request;
}

}  // namespace

RecordWriter write_transition(const Transition& transition) {
  return std::move(RecordWriter()
                       .enumeration("status", transition.status)
                       .time("started", transition.started)
                       .time("due", transition.due)
                       .map("remaining", write_remaining(transition.remaining))
                       .text("allocating_index", transition.allocating_index)
                       .enumeration("stream", transition.stream));
}

Transition read_transition(const std::string& table_name, const RecordReader& reader) {
  Transition transition;
  transition.status = reader.enumeration<store::TableStatus>("status");
  transition.started = reader.time("started");
  transition.due = reader.time("due");
  if (const auto remaining = reader.map("remaining")) transition.remaining = read_remaining(table_name, *remaining);
  transition.allocating_index = reader.optional_text("allocating_index");
  transition.stream = reader.optional_enumeration<store::StreamStatus>("stream");
  return transition;
}

}  // namespace postino::engine
