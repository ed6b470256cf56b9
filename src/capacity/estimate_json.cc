#include "capacity/estimate_json.h"

#include "capacity/estimate.h"

namespace postino::capacity {

namespace {

void write_optional(json::Writer& json, std::string_view name, const std::optional<Decimal>& value) {
  json.key(name);
  if (value)
    json.string(value->text());
  else
    json.null();
}

void write_lines(json::Writer& json, const std::vector<EstimateLine>& lines) {
  json.key("requests").begin_array();
  for (const EstimateLine& line : lines) {
    json.begin_object();
    json.key("what").string(line.what);
    json.key("index").string(line.index);
    json.key("unit").string(name_of(line.unit));
    json.key("per_second").string(line.per_second.text());
    json.key("units_each").string(line.units_each.text());
    json.key("units_per_second").string(line.units_per_second.text());
    json.end_object();
  }
  json.end_array();
}

void write_capacity(json::Writer& json, const std::vector<ProvisionedCapacity>& capacity) {
  json.key("capacity").begin_array();
  for (const ProvisionedCapacity& each : capacity) {
    json.begin_object();
    json.key("index").string(each.index);
    json.key("read_units").integer(each.read_units);
    json.key("write_units").integer(each.write_units);
    json.end_object();
  }
  json.end_array();
}

void write_break_even(json::Writer& json, const BreakEven& break_even) {
  json.key("break_even").begin_object();
  write_optional(json, "load_percent", break_even.load_percent);
  write_optional(json, "hours_per_day", break_even.hours_per_day);
  json.key("read_utilisation_percent").string(break_even.read_utilisation_percent.text());
  json.key("write_utilisation_percent").string(break_even.write_utilisation_percent.text());
  json.end_object();
}

}  // namespace

void write_prices(json::Writer& json, const PriceBook& book) {
  json.key("prices").begin_object();
  json.key("name").string(book.name);
  json.key("region").string(book.region);
  json.key("currency").string(book.currency);
  json.key("valid_from").string(book.valid_from);
  json.end_object();
}

void write_costs(json::Writer& json, std::string_view name, const Costs& costs) {
  json.key(name).begin_object();
  json.key("reads").string(costs.reads.text(cents));
  json.key("writes").string(costs.writes.text(cents));
  json.key("stream_reads").string(costs.stream_reads.text(cents));
  json.key("storage").string(costs.storage.text(cents));
  json.key("total").string(costs.total().text(cents));
  json.end_object();
}

std::string to_json(const Estimate& estimate, const PriceBook& book) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  write_prices(json, book);
  write_lines(json, estimate.lines);
  json.key("read_units_per_second").string(estimate.read_units_per_second.text());
  json.key("write_units_per_second").string(estimate.write_units_per_second.text());
  json.key("read_units_per_month").string(estimate.read_units_per_month.text());
  json.key("write_units_per_month").string(estimate.write_units_per_month.text());
  json.key("storage_gb").string(estimate.storage_gb.text());
  write_capacity(json, estimate.capacity);
  write_costs(json, "provisioned", estimate.provisioned);
  write_costs(json, "on_demand", estimate.on_demand);
  json.key("recommendation").string(name_of(estimate.recommendation));
  json.key("saving").string(estimate.saving.text(cents));
  json.key("saving_percent").string(estimate.saving_percent.text());
  write_break_even(json, estimate.break_even);
  json.key("notes").begin_array();
  for (const std::string& note : estimate.notes) json.string(note);
  json.end_array();
  json.end_object();
  return text;
}

}  // namespace postino::capacity
