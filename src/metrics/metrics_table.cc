#include "metrics/metrics_table.h"

#include "metrics/figures/figure_items.h"
#include "metrics/follow/set_aside.h"
#include "store/retry.h"
#include "store/table_setup.h"

namespace postino::metrics {

base::Result<void> prepare_metrics_table(store::Store& store, const std::string& table) {
  store::CreateTableRequest request = store::table_request(table, {{std::string(name_attribute), item::Type::string}});
  store::GlobalIndexDefinition index;
  index.name = std::string(set_aside_index);
  index.key_schema = {{"set_aside", store::KeyRole::hash}, {"set_aside_at", store::KeyRole::range}};
  index.projection.type = store::ProjectionType::all;
  request.attribute_definitions.push_back({"set_aside", item::Type::string});
  request.attribute_definitions.push_back({"set_aside_at", item::Type::string});
  request.global_indexes = {index};
  TRY_VOID(store::prepare_table(store, request, std::string(metrics_ttl)));
  const auto found = store.describe_table(table);
  if (!found) return base::propagate(store::as_error(found.error()));
  TRY_VOID(store::add_missing_index(store, request, *found));
  return {};
}

}  // namespace postino::metrics
