#include "remote/protocol/capacity_answers.h"

namespace postino::remote {

namespace {

using Json = AnswerReader::Json;

// The units of one table or index. Transactions tell them as read or write units, too.
bool read_units(AnswerReader& reader, Json json, double& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    return name == "CapacityUnits" ? reader.number(value, out) : true;
  });
}

bool read_index_units(AnswerReader& reader, Json json, std::map<std::string, double>& out) {
  return reader.members(
      json, [&](std::string_view index, Json value) { return read_units(reader, value, out[std::string(index)]); });
}

}  // namespace

bool read_capacity(AnswerReader& reader, Json json, store::ConsumedCapacity& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "TableName") return reader.text(value, out.table_name);
    if (name == "CapacityUnits") return reader.number(value, out.total);
    if (name == "ReadCapacityUnits") out.transactional_read = true;
    if (name == "WriteCapacityUnits") out.transactional_write = true;
    if (name == "Table") return read_units(reader, value, out.table);
    if (name == "GlobalSecondaryIndexes") return read_index_units(reader, value, out.global_indexes);
    if (name == "LocalSecondaryIndexes") return read_index_units(reader, value, out.local_indexes);
    return true;
  });
}

bool read_capacity_list(AnswerReader& reader, Json json, std::vector<store::ConsumedCapacity>& out) {
  return reader.elements(json, [&](Json each) { return read_capacity(reader, each, out.emplace_back()); });
}

bool read_collection_metrics(AnswerReader& reader, Json json, store::ItemCollectionMetrics& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ItemCollectionKey") return reader.item(value, out.collection_key);
    if (name != "SizeEstimateRangeGB") return true;
    int position = 0;
    return reader.elements(value, [&](Json each) {
      double number = 0;
      if (!reader.number(each, number)) return false;
      (position++ == 0 ? out.lower_gigabytes : out.upper_gigabytes) = number;
      return true;
    });
  });
}

bool read_table_metrics(AnswerReader& reader, Json json,
                        std::vector<store::BatchWriteItemResponse::TableMetrics>& out) {
  return reader.members(json, [&](std::string_view table, Json value) {
    auto& metrics = out.emplace_back();
    metrics.table_name.assign(table);
    return reader.elements(
        value, [&](Json each) { return read_collection_metrics(reader, each, metrics.metrics.emplace_back()); });
  });
}

}  // namespace postino::remote
