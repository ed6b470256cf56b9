#include "model_pages.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "item/size.h"

namespace postino::model {

namespace {

constexpr std::size_t page_bytes = 1'048'576;

std::string ordered_bytes(const item::AttributeValue& value) {
  return value.type() == item::Type::string ? value.as<std::string>() : value.as<item::Binary>().bytes;
}

bool satisfies(const item::AttributeValue& value, KeyOperator op, const KeyValues& operands) {
  switch (op) {
    case KeyOperator::equal:
      return compare(value, operands[0]) == 0;
    case KeyOperator::less:
      return compare(value, operands[0]) < 0;
    case KeyOperator::less_equal:
      return compare(value, operands[0]) <= 0;
    case KeyOperator::greater:
      return compare(value, operands[0]) > 0;
    case KeyOperator::greater_equal:
      return compare(value, operands[0]) >= 0;
    case KeyOperator::between:
      return compare(value, operands[0]) >= 0 && compare(value, operands[1]) <= 0;
    case KeyOperator::begins_with:
      return ordered_bytes(value).starts_with(ordered_bytes(operands[0]));
  }
  return false;
}

KeyValues values_of(const item::Map& item, const std::vector<std::string>& names) {
  KeyValues values;
  for (const std::string& name : names) values.push_back(*item.find(name));
  return values;
}

double read_units(std::size_t bytes, bool consistent) {
  const double blocks = std::max(1.0, std::ceil(static_cast<double>(bytes) / 4096));
  return consistent ? blocks : blocks / 2;
}

}  // namespace

const ModelIndex* ModelPages::index() const {
  return operation_.index ? table().find_index(*operation_.index) : nullptr;
}

std::vector<std::string> ModelPages::hash_names() const {
  return index() == nullptr ? std::vector<std::string>{table().hash} : index()->hash;
}

std::vector<std::string> ModelPages::range_names() const {
  if (index() != nullptr) return index()->range;
  return table().range ? std::vector<std::string>{*table().range} : std::vector<std::string>();
}

KeyValues ModelPages::range_values(const item::Map& item) const { return values_of(item, range_names()); }

bool ModelPages::satisfies_range(const item::Map& item) const {
  const KeyCondition& key = *operation_.key;
  const std::vector<std::string> names = range_names();
  for (std::size_t i = 0; i < key.equal_ranges.size(); ++i)
    if (compare(*item.find(names[i]), key.equal_ranges[i]) != 0) return false;
  return !key.last || satisfies(*item.find(names[key.equal_ranges.size()]), *key.last, key.last_operands);
}

bool ModelPages::selects(const item::Map& item) const {
  if (!operation_.key) return true;
  return compare(values_of(item, hash_names()), operation_.key->hash) == 0 && satisfies_range(item);
}

std::vector<Row> ModelPages::rows() const {
  std::vector<Row> rows;
  for (const auto& [key, item] : table().items)
    if ((index() == nullptr || table().is_indexed(*index(), item)) && selects(item))
      rows.push_back({item, table().entry_of(index(), item)});
  if (operation_.key)
    std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
      const auto order = compare(range_values(a.item), range_values(b.item));
      return operation_.forward ? order < 0 : order > 0;
    });
  return rows;
}

std::string ModelPages::fault_of_order(const std::vector<Row>& ordered) const {
  std::set<KeyValues, KeyLess> partitions;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const KeyValues partition = values_of(ordered[i].item, hash_names());
    const bool continues = i > 0 && compare(values_of(ordered[i - 1].item, hash_names()), partition) == 0;
    if (!continues) {
      if (!partitions.insert(partition).second) return "a partition is torn apart at row " + std::to_string(i);
      continue;
    }
    const auto order = compare(range_values(ordered[i - 1].item), range_values(ordered[i].item));
    if (operation_.forward ? order > 0 : order < 0) return "rows are not in order at row " + std::to_string(i);
  }
  return {};
}

std::optional<std::size_t> ModelPages::first_row(const std::vector<Row>& ordered) const {
  if (!operation_.start) return 0;
  for (std::size_t i = 0; i < ordered.size(); ++i)
    if (position_of(ordered[i].item) == *operation_.start) return i + 1;
  if (!operation_.key) return std::nullopt;
  std::size_t before = 0;
  for (const Row& row : ordered) {
    const auto order = compare(range_values(row.item), range_values(*operation_.start));
    if (order == 0) return std::nullopt;
    if (operation_.forward ? order < 0 : order > 0) ++before;
  }
  return before;
}

item::Key ModelPages::position_of(const item::Item& item) const {
  item::Key position = table().key_of(item);
  if (index() != nullptr)
    for (const std::string& name : index()->keys()) position.set(name, *item.find(name));
  return position;
}

// A local index gets what it does not keep from the table.
bool ModelPages::fetches_items() const {
  if (index() == nullptr || index()->global || index()->projection == store::ProjectionType::all) return false;
  if (operation_.select == store::Select::all_attributes) return true;
  const auto is_missing = [&](const std::string& name) { return !table().keeps(*index(), name); };
  return std::ranges::any_of(attributes_of_filter(), is_missing) ||
         std::ranges::any_of(attributes_of_projection(), is_missing);
}

item::Item ModelPages::shown(const Row& row) const {
  if (operation_.projection) return operation_.projection->apply(fetches_items() ? row.item : row.entry);
  return operation_.select == store::Select::all_attributes ? row.item : row.entry;
}

ExpectedPage ModelPages::page(const std::vector<Row>& ordered, std::size_t first) const {
  ExpectedPage page;
  const bool fetches = fetches_items();
  std::size_t counted_bytes = 0;
  std::size_t entry_bytes = 0;
  for (page.next = first; page.next < ordered.size() && !page.last_evaluated_key; ++page.next) {
    const Row& row = ordered[page.next];
    entry_bytes += item::size_of(row.entry);
    counted_bytes += item::size_of(fetches ? row.item : row.entry);
    ++page.scanned_count;
    if (fetches) page.table_units += read_units(item::size_of(row.item), operation_.consistent);
    const bool is_single = operation_.key && index() == nullptr && range_names().empty();
    if ((page.scanned_count == operation_.limit || counted_bytes > page_bytes) && !is_single)
      page.last_evaluated_key = position_of(row.item);
    if (operation_.filter && !operation_.filter->matches(fetches ? row.item : row.entry)) continue;
    ++page.count;
    if (operation_.select != store::Select::count) page.items.push_back(shown(row));
  }
  (index() == nullptr ? page.table_units : page.index_units) += read_units(entry_bytes, operation_.consistent);
  return page;
}

}  // namespace postino::model
