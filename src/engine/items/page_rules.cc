#include "engine/items/page_rules.h"

#include <algorithm>

#include "engine/catalog/item_keys.h"
#include "engine/items/key_rules.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;
using store::Select;

bool keeps(const Index& index, std::string_view attribute) {
  return index.projection == store::ProjectionType::all || std::ranges::binary_search(index.kept, attribute);
}

std::vector<std::string_view> missing_attributes(const Index& index, const std::vector<std::string_view>& wanted) {
  std::vector<std::string_view> missing;
  for (const std::string_view attribute : wanted)
    if (!keeps(index, attribute)) missing.push_back(attribute);
  return missing;
}

std::string bracketed(const std::vector<std::string_view>& names) {
  std::string text = "[";
  for (const std::string_view name : names) {
    if (text.size() > 1) text += ", ";
    text += name;
  }
  return text + "]";
}

store::Answer<void> check_global_index(const store::ReadPage& request, const PageView& view) {
  const Index& index = *view.index;
  if (request.consistent_read) return refuse_invalid("Consistent reads are not supported on global secondary indexes");
  if (request.select == Select::all_attributes && index.projection != store::ProjectionType::all)
    return refuse_invalid(
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary "
        "index " +
        index.name + " because its projection type is not ALL");
  if (!view.projection) return {};
  const auto missing = missing_attributes(index, view.projection->attributes());
  if (missing.empty()) return {};
  return refuse_invalid("One or more parameter values were invalid: Global secondary index " + index.name +
                        " does not project " + bracketed(missing));
}

bool needs_items(const store::ReadPage& request, const PageView& view) {
  if (request.select == Select::all_attributes) return view.index->projection != store::ProjectionType::all;
  return (view.projection && !missing_attributes(*view.index, view.projection->attributes()).empty()) ||
         (view.filter && !missing_attributes(*view.index, view.filter->attributes()).empty());
}

// The attributes a start key must have: the table's key and, on an index, its key too.
std::vector<const KeyPart*> position_parts(const PageView& view) {
  std::vector<const KeyPart*> parts = {&view.table->hash};
  const auto add = [&](const KeyPart& part) {
    if (std::ranges::none_of(parts, [&](const KeyPart* known) { return known->name == part.name; }))
      parts.push_back(&part);
  };
  if (view.table->range) add(*view.table->range);
  if (view.index == nullptr) return parts;
  for (const KeyPart& part : view.index->hash) add(part);
  for (const KeyPart& part : view.index->range) add(part);
  return parts;
}

}  // namespace

store::Answer<void> check_select(const store::ReadPage& request, SelectWording wording) {
  if (request.projection && request.select && *request.select != Select::specific_attributes) {
    const std::string start = "Cannot specify the " + std::string(request.projection_name) + " when choosing to get ";
    if (*request.select == Select::count) return refuse_invalid(start + "only the Count");
    return refuse_invalid(start +
                          (*request.select == Select::all_attributes ? "ALL_ATTRIBUTES" : "ALL_PROJECTED_ATTRIBUTES"));
  }
  if (request.select == Select::all_projected_attributes && !request.index_name)
    return refuse_invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  if (request.select != Select::specific_attributes || request.projection) return {};
  const std::string text =
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES";
  if (wording == SelectWording::plain) return refuse_invalid(text);
  store::Constraints constraints;
  constraints.refuse_with(text);
  return constraints.outcome();
}

store::Answer<void> find_source(const Core& core, const store::ReadPage& request, PageView& view) {
  view.table = core.find_table(request.table_name);
  if (!view.table) return base::propagate(no_such_table());
  view.count_only = request.select == Select::count;
  if (!request.index_name) return {};
  view.index = view.table->find_index(*request.index_name);
  if (view.index == nullptr)
    return refuse_invalid("The table does not have the specified index: " + *request.index_name,
                          base::Rule::known_index);
  if (!view.index->ready())
    return refuse_invalid("Cannot read from backfilling global secondary index: " + view.index->name,
                          base::Rule::filled_index);
  if (view.index->global) return check_global_index(request, view);
  view.fetch_items = needs_items(request, view);
  return {};
}

store::Answer<std::string> start_position(const PageView& view, const item::Key& start, std::string_view invalid) {
  const std::vector<const KeyPart*> parts = position_parts(view);
  const bool fits = start.size() == parts.size() && std::ranges::all_of(parts, [&](const KeyPart* part) {
                      const item::AttributeValue* value = start.find(part->name);
                      return value != nullptr && value->type() == part->type;
                    });
  if (!fits) return refuse_invalid(std::string(invalid));
  TRY_VOID(check_key(*view.table, key_of(*view.table, start)));
  std::string key = item_key(*view.table, start);
  if (view.index == nullptr) return key;
  std::optional<std::string> position = index_key(*view.index, start, key);
  if (!position) return refuse_invalid(std::string(invalid));  // empty or too long for a key
  return std::move(*position);
}

item::Key position_of(const PageView& view, const item::Item& item) {
  item::Key key;
  for (const KeyPart* part : position_parts(view)) key.set(part->name, *item.find(part->name));
  return key;
}

}  // namespace postino::engine
