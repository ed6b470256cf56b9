// What makes the model refuse a query or a scan.
#include <algorithm>

#include "model_pages.h"
#include "model_rules.h"

namespace postino::model {

namespace {

using store::Select;

const std::string any_wording;  // the model does not know how it is said

}  // namespace

std::vector<std::string> ModelPages::attributes_of_filter() const {
  std::vector<std::string> names;
  if (operation_.filter) operation_.filter->add_attributes(names);
  return names;
}

std::vector<std::string> ModelPages::attributes_of_projection() const {
  std::vector<std::string> names;
  if (operation_.projection)
    for (const Path& path : operation_.projection->paths) {
      const std::string& name = std::get<std::string>(path.front());
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  return names;
}

void ModelPages::check_expressions(std::vector<std::string>& faults) const {
  if (operation_.filter && operation_.filter->is_invalid()) faults.push_back(any_wording);
  if (operation_.projection && operation_.projection->is_invalid()) faults.push_back(any_wording);
  if (operation_.projection && operation_.select && operation_.select != Select::specific_attributes)
    faults.push_back("Cannot specify the ProjectionExpression when choosing to get " +
                     std::string(operation_.select == Select::count            ? "only the Count"
                                 : operation_.select == Select::all_attributes ? "ALL_ATTRIBUTES"
                                                                               : "ALL_PROJECTED_ATTRIBUTES"));
  if (operation_.select == Select::all_projected_attributes && !operation_.index)
    faults.push_back("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  if (operation_.select == Select::specific_attributes && !operation_.projection)
    faults.push_back(
        std::string(operation_.key ? "1 validation error detected: " : "") +
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  if (operation_.key && operation_.key->last) {
    const KeyValues& operands = operation_.key->last_operands;
    if (operands.size() == 2 && operands[0].type() == operands[1].type() && compare(operands[0], operands[1]) > 0)
      faults.push_back(any_wording);
    if (operation_.key->last == KeyOperator::begins_with && operands[0].type() == item::Type::number)
      faults.push_back(any_wording);
  }
}

void ModelPages::check_index(std::vector<std::string>& faults) const {
  if (!operation_.index) return;
  if (index() == nullptr) {
    faults.push_back("The table does not have the specified index: " + *operation_.index);
    return;
  }
  const std::string& name = index()->name;
  if (index()->filling) faults.push_back("Cannot read from backfilling global secondary index: " + name);
  if (!index()->global) return;
  if (operation_.consistent) faults.push_back("Consistent reads are not supported on global secondary indexes");
  if (operation_.select == Select::all_attributes && index()->projection != store::ProjectionType::all)
    faults.push_back(were_invalid + "Select type ALL_ATTRIBUTES is not supported for global secondary index " + name +
                     " because its projection type is not ALL");
  std::string missing;
  for (const std::string& attribute : attributes_of_projection())
    if (!table().keeps(*index(), attribute)) missing += (missing.empty() ? "" : ", ") + attribute;
  if (!missing.empty())
    faults.push_back(were_invalid + "Global secondary index " + name + " does not project [" + missing + "]");
}

void ModelPages::check_start(std::vector<std::string>& faults) const {
  if (!operation_.start || (operation_.index && index() == nullptr)) return;
  const item::Key& start = *operation_.start;
  std::vector<std::string> names = table().keys();
  if (index() != nullptr)
    for (const std::string& name : index()->keys())
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  const bool fits = start.size() == names.size() && std::ranges::all_of(names, [&](const std::string& name) {
                      return start.contains(name) && start.find(name)->type() == table().types.at(name);
                    });
  const std::string invalid_start = "The provided starting key is invalid";
  if (!fits) {
    faults.push_back(operation_.key ? invalid_start
                                    : invalid_start + ": The provided key element does not match the schema");
    return;
  }
  const auto is_empty = [&](const std::string& name) {
    return *start.find(name) == item::AttributeValue("") || *start.find(name) == item::AttributeValue(item::Binary{""});
  };
  if (std::ranges::any_of(names, is_empty)) {
    faults.push_back(any_wording);
    return;
  }
  if (!operation_.key) return;
  // A whole key is named: there is no next page. The text has the key in a form of its own.
  if (index() == nullptr && range_names().empty()) {
    faults.push_back(any_wording);
    return;
  }
  if (!satisfies_range(start)) {
    faults.push_back("The provided starting key does not match the range key predicate");
    return;
  }
  const bool has_range = operation_.key->last || !operation_.key->equal_ranges.empty();
  const std::vector<std::string> hash = hash_names();
  for (std::size_t i = 0; i < hash.size(); ++i)
    if (compare(*start.find(hash[i]), operation_.key->hash[i]) != 0) {
      faults.push_back(has_range
                           ? "The query can return at most one row and cannot be restarted"
                           : "The provided starting key is outside query boundaries based on provided conditions");
      return;
    }
}

Expected<void> ModelPages::check() const {
  if (!store_.tables.contains(operation_.table)) {
    if (operation_.filter && operation_.filter->is_invalid()) return invalid();
    return fault(store::ErrorType::resource_not_found, {"Requested resource not found"});
  }
  std::vector<std::string> faults;
  check_expressions(faults);
  check_index(faults);
  if (operation_.key && !(operation_.index && index() == nullptr)) {
    std::vector<std::string> keys = hash_names();
    for (const std::string& name : range_names()) keys.push_back(name);
    for (const std::string& name : attributes_of_filter())
      if (std::ranges::find(keys, name) != keys.end())
        faults.push_back("Filter Expression can only contain non-primary key attributes: Primary key attribute: " +
                         name);
  }
  // A condition that makes no sense cannot be asked whether the start key satisfies it.
  if (faults.empty()) check_start(faults);
  if (faults.empty()) return {};
  if (std::ranges::find(faults, any_wording) != faults.end()) return invalid();
  return invalid(faults);
}

}  // namespace postino::model
