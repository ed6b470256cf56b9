#include "objects/large_item_store.h"

#include <algorithm>

#include "store/retry.h"

namespace postino::objects {

base::Result<LargeItemTable> describe_large_item_table(store::Store& store, const std::string& table) {
  TRY(KeyedTable keyed, describe_keys(store, table));
  const auto description = store.describe_table(table);
  if (!description) return base::propagate(store::as_error(description.error()));
  const auto expiring = store.describe_time_to_live(table);
  if (!expiring) return base::propagate(store::as_error(expiring.error()));
  LargeItemTable described{std::move(keyed), {}, {}};
  // All attributes with a definition are keys, of the table or of an index.
  for (const store::AttributeDefinition& definition : description->attribute_definitions)
    described.kept.push_back(definition.name);
  if (expiring->attribute_name) described.kept.push_back(*expiring->attribute_name);
  for (const auto* indexes : {&description->global_indexes, &description->local_indexes})
    for (const store::IndexDescription& index : *indexes)
      if (index.projection == store::ProjectionType::all) described.whole_indexes.push_back(index.name);
  return described;
}

LargeItemStore::LargeItemStore(store::Store& inner, ObjectStore& objects, std::vector<LargeItemTable> tables,
                               const base::Clock& clock, base::Random& random, LargeItemLimits limits)
    : ForwardingStore(inner),
      objects_(objects),
      tables_(std::move(tables)),
      clock_(clock),
      random_(random),
      limits_(limits) {}

const LargeItemTable* LargeItemStore::find(std::string_view table_name) const {
  const auto found =
      std::ranges::find_if(tables_, [&](const LargeItemTable& table) { return table.keyed.name == table_name; });
  return found == tables_.end() ? nullptr : &*found;
}

}  // namespace postino::objects
