#include "metrics/metrics_table.h"

#include <algorithm>

#include "item/attribute_text.h"
#include "metrics/figures/figure_items.h"
#include "metrics/follow/checkpoint.h"
#include "metrics/follow/set_aside.h"
#include "metrics/subscribers.h"
#include "store/retry.h"

namespace postino::metrics {

namespace {

// The names of the checkpoints of all that counts; those of subscribers have seen their changes, whatever is lost.
store::Answer<std::vector<std::string>> checkpoints_of_sources(store::Store& store, const std::string& table) {
  const std::string begin = checkpoint_name("");
  std::vector<std::string> names;
  store::ScanRequest request;
  request.table_name = table;
  request.filter = "begins_with(#name, :begin)";
  request.projection = "#name";
  request.placeholders.names = expr::Names{{"#name", std::string(name_attribute)}};
  request.placeholders.values = item::Map{{":begin", begin}};
  do {
    TRY(const store::PageResponse page, store.scan(request));
    for (const item::Item& item : page.items) {
      std::string name = item::attribute_text(item, name_attribute);
      if (!subscriber_of(name.substr(begin.size()))) names.push_back(std::move(name));
    }
    request.exclusive_start_key = page.last_evaluated_key;
  } while (request.exclusive_start_key);
  return names;
}

}  // namespace

store::TableSetup metrics_table_setup(const std::string& table) {
  store::CreateTableRequest request = store::table_request(table, {{std::string(name_attribute), item::Type::string}});
  store::GlobalIndexDefinition index;
  index.name = std::string(set_aside_index);
  index.key_schema = {{"set_aside", store::KeyRole::hash}, {"set_aside_at", store::KeyRole::range}};
  index.projection.type = store::ProjectionType::all;
  request.attribute_definitions.push_back({"set_aside", item::Type::string});
  request.attribute_definitions.push_back({"set_aside_at", item::Type::string});
  request.global_indexes = {index};
  return {std::move(request), std::string(metrics_ttl)};
}

base::Result<void> prepare_metrics_table(store::Store& store, const std::string& table) {
  const store::TableSetup setup = metrics_table_setup(table);
  TRY_VOID(store::prepare_table(store, setup.request, setup.expiry));
  const auto found = store.describe_table(table);
  if (!found) return base::propagate(store::as_error(found.error()));
  TRY_VOID(store::add_missing_index(store, setup.request, *found));
  return {};
}

base::Result<int> want_recount(store::Store& store, const std::string& table, const std::string& reason) {
  const auto names = checkpoints_of_sources(store, table);
  if (!names && names.error().type == store::ErrorType::resource_not_found) return 0;
  if (!names) return base::propagate(store::as_error(names.error()));
  for (const std::string& name : *names) {
    store::UpdateItemRequest request;
    request.table_name = table;
    request.key = {{std::string(name_attribute), name}};
    request.update = "SET due = :reason ADD version :one";
    request.placeholders.values = item::Map{{":one", 1}, {":reason", reason}};
    if (const auto updated = store.update_item(request); !updated)
      return base::propagate(store::as_error(updated.error()));
  }
  return static_cast<int>(names->size());
}

base::Result<std::optional<base::TimePoint>> last_sign_of_a_follower(store::Store& store, const std::string& table) {
  std::optional<base::TimePoint> last;
  store::ScanRequest request;
  request.table_name = table;
  request.consistent_read = true;
  request.filter = "begins_with(#name, :begin) AND attribute_exists(#owner)";
  request.placeholders.names = expr::Names{{"#name", std::string(name_attribute)}, {"#owner", "owner"}};
  request.placeholders.values = item::Map{{":begin", checkpoint_name("")}};
  do {
    const auto page = store.scan(request);
    if (!page && page.error().type == store::ErrorType::resource_not_found) return std::nullopt;
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const item::Item& item : page->items)
      if (const auto checkpoint = read_checkpoint(item); checkpoint && !checkpoint->owner.empty())
        last = std::max(last.value_or(checkpoint->at), checkpoint->at);
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return last;
}

std::vector<std::string> names_of_following() { return {checkpoint_name(""), "asked-again#"}; }

}  // namespace postino::metrics
