#include "capacity/planner.h"

#include "base/check.h"
#include "capacity/former_calculator.h"
#include "store/retry.h"

namespace postino::capacity {

namespace {

// All of them; one that goes away meanwhile is left out.
base::Result<std::vector<store::TableDescription>> describe_tables(store::Store& store) {
  std::vector<store::TableDescription> tables;
  store::ListTablesRequest request;
  while (true) {
    const auto page = store.list_tables(request);
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const std::string& name : page->table_names) {
      auto described = store.describe_table(name);
      if (described)
        tables.push_back(*std::move(described));
      else if (described.error().type != store::ErrorType::resource_not_found)
        return base::propagate(store::as_error(described.error()));
    }
    if (!page->last_evaluated_table_name) return tables;
    request.exclusive_start_table_name = page->last_evaluated_table_name;
  }
}

}  // namespace

std::optional<std::string> Planner::estimate_json(json::Element element, json::FieldErrors& errors,
                                                  InputForm form) const {
  const auto workload = read_workload(element, errors, form);
  if (!workload) return std::nullopt;
  return to_json(estimate(*workload, prices_), prices_);
}

std::optional<std::string> Planner::former_json(json::Element element, json::FieldErrors& errors) {
  const auto load = read_former_load(element, errors);
  if (!load) return std::nullopt;
  return to_json(former_analysis(*load));
}

base::Result<Observation> Planner::observe() const {
  CHECK(is_watching());
  const TrafficWatch::Sighting sighting = watch_->look();
  TRY(const std::vector<store::TableDescription> tables, describe_tables(*store_));
  return capacity::observe(sighting, tables, prices_, own_tables_);
}

}  // namespace postino::capacity
