#include "base/timestamp.h"
#include "capacity/estimate_json.h"
#include "capacity/observation.h"

namespace postino::capacity {

namespace {

void write_part(json::Writer& json, const ObservedPart& part) {
  json.begin_object();
  json.key("index").string(part.index);
  json.key("reads").integer(static_cast<std::int64_t>(part.reads));
  json.key("writes").integer(static_cast<std::int64_t>(part.writes));
  json.key("failed_writes").integer(static_cast<std::int64_t>(part.failed_writes));
  json.key("read_units").string(part.read_units.text());
  json.key("scan_units").string(part.scan_units.text());
  json.key("write_units").string(part.write_units.text());
  json.key("backfill_units").string(part.backfill_units.text());
  json.key("read_units_per_month").string(part.read_units_per_month.text());
  json.key("write_units_per_month").string(part.write_units_per_month.text());
  json.key("provisioned_read_units").integer(part.provisioned_read_units);
  json.key("provisioned_write_units").integer(part.provisioned_write_units);
  json.key("items").integer(part.items);
  json.key("stored_bytes").integer(part.stored_bytes);
  json.end_object();
}

void write_table(json::Writer& json, const ObservedTable& table) {
  json.begin_object();
  json.key("table").string(table.table);
  json.key("table_class").string(name_of(table.storage_class));
  json.key("parts").begin_array();
  for (const ObservedPart& part : table.parts) write_part(json, part);
  json.end_array();
  write_costs(json, "on_demand", table.on_demand);
  write_costs(json, "provisioned", table.provisioned);
  json.key("recommendation").string(name_of(table.recommendation));
  json.key("saving").string(table.saving.text(cents));
  json.end_object();
}

void write_keys(json::Writer& json, std::string_view name, const std::vector<HotKey>& keys) {
  json.key(name).begin_array();
  for (const HotKey& key : keys) {
    json.begin_object();
    json.key("table").string(key.table);
    json.key("index").string(key.index);
    json.key("unit").string(key.reads ? "read" : "write");
    json.key("key").string(key.key);
    json.key("key_is_cut").boolean(key.is_cut);
    json.key("units").string(key.units.text());
    json.key("most_excess").string(key.most_excess.text());
    json.key("share_percent").string(key.share_percent.text());
    json.key("most_in_a_second").string(key.most_in_a_second.text());
    json.end_object();
  }
  json.end_array();
}

void write_services(json::Writer& json, const std::vector<ObservedService>& services) {
  json.key("services").begin_array();
  for (const ObservedService& service : services) {
    json.begin_object();
    json.key("service").string(service.service);
    json.key("operation").string(service.operation);
    json.key("read_units").string(service.read_units.text());
    json.key("write_units").string(service.write_units.text());
    json.key("cost").string(service.cost.text(cents));
    json.end_object();
  }
  json.end_array();
}

void write_findings(json::Writer& json, const Observation& observation) {
  json.key("large_items").begin_array();
  for (const ObservedLargeItem& item : observation.large_items) {
    json.begin_object();
    json.key("table").string(item.table);
    json.key("key").string(item.key);
    json.key("bytes").integer(item.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("unread_indexes").begin_array();
  for (const UnreadIndex& index : observation.unread_indexes) {
    json.begin_object();
    json.key("table").string(index.table);
    json.key("index").string(index.index);
    json.key("since").string(base::format_timestamp(index.since));
    json.key("write_units_per_month").string(index.write_units_per_month.text());
    json.key("cost").string(index.cost.text(cents));
    json.end_object();
  }
  json.end_array();
  json.key("advice").begin_array();
  for (const Advice& advice : observation.advice) {
    json.begin_object();
    json.key("about").string(name_of(advice.kind));
    json.key("table").string(advice.table);
    json.key("index").string(advice.index);
    json.key("text").string(advice.text);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const Observation& observation, const PriceBook& book) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("since").string(base::format_timestamp(observation.since));
  json.key("until").string(base::format_timestamp(observation.until));
  json.key("seconds").integer(observation.seconds);
  write_prices(json, book);
  write_costs(json, "on_demand", observation.on_demand);
  write_costs(json, "provisioned", observation.provisioned);
  json.key("recommendation").string(name_of(observation.recommendation));
  json.key("saving").string(observation.saving.text(cents));
  json.key("best").string(observation.best.text(cents));
  json.key("stream_reads").string(observation.stream_reads.text());
  json.key("other_units").string(observation.other_units.text());
  json.key("deleted_units").string(observation.deleted_units.text());
  json.key("backfill_cost").string(observation.backfill_cost.text(cents));
  json.key("tables").begin_array();
  for (const ObservedTable& table : observation.tables) write_table(json, table);
  json.end_array();
  write_services(json, observation.services);
  write_keys(json, "hot_keys", observation.hot_keys);
  write_keys(json, "hot_partitions", observation.hot_partitions);
  write_findings(json, observation);
  json.key("notes").begin_array();
  for (const std::string& note : observation.notes) json.string(note);
  json.end_array();
  json.end_object();
  return text;
}

}  // namespace postino::capacity
