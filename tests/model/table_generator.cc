#include <algorithm>

#include "operation_generator.h"

namespace postino::model {

namespace {

item::Type scalar_type(Choice& choice) { return static_cast<item::Type>(choice.between(0, 2)); }

// Removes one name at random and returns it.
std::string draw(Choice& choice, std::vector<std::string>& names) {
  const std::string name = choice.of(names);
  std::erase(names, name);
  return name;
}

}  // namespace

void OperationGenerator::choose_projection(ModelIndex& index) {
  index.projection = static_cast<store::ProjectionType>(choice_.between(0, 2));
  if (index.projection != store::ProjectionType::include) return;
  std::vector<std::string> names = ValueGenerator::data_attributes();
  for (int count = choice_.between(1, 3); count > 0; --count) index.included.push_back(draw(choice_, names));
}

ModelIndex OperationGenerator::global_index(const ModelTable& table, const std::string& name) {
  ModelIndex index;
  index.name = name;
  std::vector<std::string> names;
  for (const auto& [attribute, type] : table.types) names.push_back(attribute);
  index.hash.push_back(draw(choice_, names));
  if (choice_.one_in(5)) index.hash.push_back(draw(choice_, names));
  if (!choice_.one_in(4)) index.range.push_back(draw(choice_, names));
  if (!index.range.empty() && choice_.one_in(4)) index.range.push_back(draw(choice_, names));
  choose_projection(index);
  return index;
}

ModelIndex OperationGenerator::local_index(const ModelTable& table, const std::string& name) {
  ModelIndex index;
  index.name = name;
  index.global = false;
  index.hash = {table.hash};
  std::vector<std::string> names = {"g1", "g2", "g3", "l1"};
  index.range = {draw(choice_, names)};
  choose_projection(index);
  return index;
}

ModelTable OperationGenerator::table(const std::string& name) {
  ModelTable table;
  table.name = name;
  table.hash = "pk";
  table.types["pk"] = scalar_type(choice_);
  if (!choice_.one_in(3)) {
    table.range = "sk";
    table.types["sk"] = scalar_type(choice_);
  }
  for (const char* attribute : {"g1", "g2", "g3", "l1"}) table.types[attribute] = scalar_type(choice_);
  for (int i = 0, count = choice_.between(0, 3); i < count; ++i)
    table.indexes.push_back(global_index(table, "global_" + std::to_string(i)));
  if (table.range)
    for (int i = 0, count = choice_.between(0, 2); i < count; ++i)
      table.indexes.push_back(local_index(table, "local_" + std::to_string(i)));
  if (!choice_.one_in(3)) table.stream = static_cast<store::StreamViewType>(choice_.between(0, 3));
  return table;
}

}  // namespace postino::model
