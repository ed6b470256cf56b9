#include "capacity/planner.h"

#include "base/check.h"
#include "capacity/former_calculator.h"
#include "store/retry.h"

namespace postino::capacity {

namespace {

base::Result<std::set<std::string>> all_tables(store::Store& store) {
  std::set<std::string> names;
  store::ListTablesRequest request;
  while (true) {
    const auto page = store.list_tables(request);
    if (!page) return base::propagate(store::as_error(page.error()));
    names.insert(page->table_names.begin(), page->table_names.end());
    if (!page->last_evaluated_table_name) return names;
    request.exclusive_start_table_name = page->last_evaluated_table_name;
  }
}

// Others may have a thousand tables on the same store, and the keys of this program need not allow to list them.
std::set<std::string> tables_in_use(const TrafficWatch::Sighting& sighting, const ServiceNames& services) {
  std::set<std::string> names;
  for (const auto& [table, service] : services) names.insert(table);
  for (const TrafficWatch::Source& source : sighting.sources) names.insert(source.source.table);
  return names;
}

struct Descriptions {
  std::vector<store::TableDescription> tables;
  std::set<std::string> hidden;  // that this program may not describe
};

// One that goes away meanwhile is left out.
base::Result<Descriptions> describe_tables(store::Store& store, const std::set<std::string>& names) {
  Descriptions found;
  for (const std::string& name : names) {
    auto described = store.describe_table(name);
    if (described)
      found.tables.push_back(*std::move(described));
    else if (described.error().type == store::ErrorType::access_denied)
      found.hidden.insert(name);
    else if (described.error().type != store::ErrorType::resource_not_found)
      return base::propagate(store::as_error(described.error()));
  }
  return found;
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
  TrafficWatch::Sighting sighting = watch_->look();
  std::set<std::string> names;
  if (store_->is_shared()) {
    names = tables_in_use(sighting, services_);
  } else {
    TRY(names, all_tables(*store_));
  }
  TRY(const Descriptions found, describe_tables(*store_, names));
  std::erase_if(sighting.sources, [&](const auto& source) { return found.hidden.contains(source.source.table); });
  Observation observation = capacity::observe(sighting, found.tables, prices_, own_tables_, services_);
  for (const std::string& table : found.hidden)
    observation.notes.push_back("Table " + table +
                                " may not be described with the keys of this server (dynamodb:DescribeTable): it is "
                                "in no figure but those of services and operations.");
  return observation;
}

}  // namespace postino::capacity
