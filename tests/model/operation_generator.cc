#include "operation_generator.h"

#include <algorithm>
#include <set>

namespace postino::model {

namespace {

constexpr int faults_are_one_in = 80;
constexpr int attempts = 4;

const item::Item no_item;

}  // namespace

const ModelTable& OperationGenerator::any_table() {
  auto table = store_.tables.begin();
  std::advance(table, choice_.between(0, static_cast<int>(store_.tables.size()) - 1));
  return table->second;
}

const item::Item* OperationGenerator::any_item(const ModelTable& table) {
  if (table.items.empty()) return nullptr;
  auto item = table.items.begin();
  std::advance(item, choice_.between(0, static_cast<int>(table.items.size()) - 1));
  return &item->second;
}

void OperationGenerator::spoil_key(const ModelTable& table, item::Map& subject) {
  const std::vector<std::string> names = table.keys();
  const std::string& name = choice_.of(names);
  switch (choice_.between(0, 3)) {
    case 0:
      subject.erase(name);
      break;
    case 1:
      subject.set(name, item::Null());
      break;
    case 2:
      if (table.types.at(name) == item::Type::string) subject.set(name, "");
      if (table.types.at(name) == item::Type::binary) subject.set(name, item::Binary{""});
      break;
    default:
      subject.set(name, ValueGenerator::scalar(choice_.one_in(2) ? item::Type::string : item::Type::number, 3));
  }
}

Condition OperationGenerator::condition_for(const ModelTable& table, const item::Item* item) {
  Condition condition = values_.condition(table);
  for (int i = 0; i < attempts && !condition.matches(item == nullptr ? no_item : *item); ++i)
    if (!choice_.one_in(3)) condition = values_.condition(table);
  return condition;
}

Update OperationGenerator::update_for(const ModelTable& table, const item::Item& start) {
  Update update = values_.update(table, store_.now());
  for (int i = 0; i < attempts && !update.is_invalid() && !update.apply(start).item; ++i)
    if (!choice_.one_in(4)) update = values_.update(table, store_.now());
  return update;
}

WriteOperation OperationGenerator::write_to(const ModelTable& table, WriteOperation::Kind kind) {
  WriteOperation operation;
  operation.kind = kind;
  operation.table = table.name;
  operation.subject = kind == WriteOperation::Kind::put ? values_.item(table, store_.now()) : values_.key(table);
  // Writing what is there already must change nothing.
  if (kind == WriteOperation::Kind::put && choice_.one_in(15))
    if (const item::Item* same = any_item(table)) operation.subject = *same;
  const item::Item* current = table.find(operation.subject);
  if (kind == WriteOperation::Kind::check || choice_.one_in(3)) operation.condition = condition_for(table, current);
  if (kind == WriteOperation::Kind::update && !choice_.one_in(25))
    operation.update = update_for(table, current == nullptr ? operation.subject : *current);
  if (choice_.one_in(faults_are_one_in)) spoil_key(table, operation.subject);
  operation.return_item_on_failure = choice_.one_in(2);
  return operation;
}

std::vector<WriteOperation> OperationGenerator::writes(int count, const std::vector<WriteOperation::Kind>& kinds) {
  std::vector<WriteOperation> operations;
  std::map<std::string, std::set<KeyValues, KeyLess>> known;
  for (; count > 0; --count) {
    WriteOperation operation = write_to(any_table(), choice_.of(kinds));
    const ModelTable& table = store_.tables.at(operation.table);
    const bool has_key = std::ranges::all_of(table.keys(), [&](const std::string& name) {
      return operation.subject.contains(name) && operation.subject.find(name)->type() == table.types.at(name);
    });
    const bool is_new = !has_key || known[table.name].insert(table.key_values(operation.subject)).second;
    if (is_new || choice_.one_in(40)) operations.push_back(std::move(operation));
  }
  return operations;
}

WriteOperation OperationGenerator::write() {
  const int kind = choice_.between(0, 9);
  WriteOperation operation = write_to(any_table(), kind < 4   ? WriteOperation::Kind::put
                                                   : kind < 8 ? WriteOperation::Kind::update
                                                              : WriteOperation::Kind::remove);
  const bool any_values = operation.kind == WriteOperation::Kind::update || choice_.one_in(faults_are_one_in);
  operation.return_values = static_cast<store::ReturnValues>(choice_.between(0, any_values ? 4 : 1));
  if (choice_.one_in(400)) operation.table = "no_such_table";
  return operation;
}

item::Key OperationGenerator::key_for_reading(const ModelTable& table) {
  item::Key key = values_.key(table);
  const item::Item* known = choice_.one_in(2) ? any_item(table) : nullptr;
  if (known != nullptr) key = table.key_of(*known);
  if (choice_.one_in(faults_are_one_in)) spoil_key(table, key);
  return key;
}

GetOperation OperationGenerator::get() {
  const ModelTable& table = any_table();
  GetOperation operation{table.name, key_for_reading(table), std::nullopt};
  if (choice_.one_in(2)) operation.projection = values_.projection(table);
  return operation;
}

std::vector<WriteOperation> OperationGenerator::batch_write() {
  std::vector<WriteOperation> operations = writes(
      choice_.between(1, largest_batch_),
      {WriteOperation::Kind::put, WriteOperation::Kind::put, WriteOperation::Kind::put, WriteOperation::Kind::remove});
  for (WriteOperation& operation : operations) operation.condition.reset();
  return operations;
}

std::vector<GetOperation> OperationGenerator::batch_get() {
  std::vector<GetOperation> operations;
  std::map<std::string, std::optional<Projection>> projections;
  for (int count = choice_.between(1, 8); count > 0; --count) {
    const ModelTable& table = any_table();
    if (!projections.contains(table.name) && choice_.one_in(2)) projections[table.name] = values_.projection(table);
    operations.push_back({table.name, key_for_reading(table), projections[table.name]});
  }
  return operations;
}

std::vector<GetOperation> OperationGenerator::transact_get() {
  std::vector<GetOperation> operations;
  for (int count = choice_.between(1, 6); count > 0; --count) operations.push_back(get());
  return operations;
}

std::vector<WriteOperation> OperationGenerator::transact_write() {
  return writes(choice_.between(1, 6),
                {WriteOperation::Kind::put, WriteOperation::Kind::put, WriteOperation::Kind::put,
                 WriteOperation::Kind::update, WriteOperation::Kind::update, WriteOperation::Kind::update,
                 WriteOperation::Kind::remove, WriteOperation::Kind::check});
}

KeyCondition OperationGenerator::key_condition(const ModelTable& table, const ModelIndex* index) {
  const std::vector<std::string> hash = index == nullptr ? std::vector{table.hash} : index->hash;
  std::vector<std::string> range;
  if (index != nullptr)
    range = index->range;
  else if (table.range)
    range = {*table.range};
  const item::Item* near = choice_.one_in(4) ? nullptr : any_item(table);
  const auto value_of = [&](const std::string& name) {
    const item::AttributeValue* known = near == nullptr ? nullptr : near->find(name);
    const bool fits = known != nullptr && known->type() == table.types.at(name);
    return fits ? *known : values_.key_value(table, name);
  };
  KeyCondition condition;
  for (const std::string& name : hash) condition.hash.push_back(value_of(name));
  std::size_t used = 0;
  while (used < range.size() && choice_.one_in(3)) condition.equal_ranges.push_back(value_of(range[used++]));
  if (used == range.size() || choice_.one_in(3)) return condition;
  condition.last = static_cast<KeyOperator>(choice_.between(0, 6));
  condition.last_operands.push_back(values_.key_value(table, range[used]));
  if (condition.last == KeyOperator::between) {
    condition.last_operands.push_back(values_.key_value(table, range[used]));
    if (compare(condition.last_operands[0], condition.last_operands[1]) > 0 && !choice_.one_in(20))
      std::swap(condition.last_operands[0], condition.last_operands[1]);
  }
  if (condition.last == KeyOperator::begins_with) {
    if (table.types.at(range[used]) == item::Type::number && !choice_.one_in(20)) condition.last = KeyOperator::greater;
    if (table.types.at(range[used]) == item::Type::string && choice_.one_in(3)) condition.last_operands[0] = "";
  }
  if (condition.last != KeyOperator::begins_with && condition.last_operands[0] == item::AttributeValue(""))
    condition.last_operands[0] = "a";
  return condition;
}

item::Key OperationGenerator::start_key(const ModelTable& table, const ModelIndex* index) {
  std::vector<std::string> names = table.keys();
  if (index != nullptr)
    for (const std::string& name : index->keys()) names.push_back(name);
  const item::Item* known = any_item(table);
  item::Key start;
  for (const std::string& name : names) {
    const item::AttributeValue* value = known == nullptr ? nullptr : known->find(name);
    const bool fits = value != nullptr && value->type() == table.types.at(name) && !choice_.one_in(8);
    start.set(name, fits ? *value : values_.key_value(table, name));
  }
  if (choice_.one_in(10)) start.erase(choice_.of(names));
  if (choice_.one_in(20)) start.set("surplus", 1);
  if (choice_.one_in(20)) start.set(choice_.of(names), "");
  return start;
}

PageOperation OperationGenerator::page() {
  const ModelTable& table = any_table();
  PageOperation operation;
  operation.table = table.name;
  const ModelIndex* index = nullptr;
  if (!table.indexes.empty() && choice_.one_in(2)) {
    index = &choice_.of(table.indexes);
    operation.index = index->name;
  }
  const bool is_query = !choice_.one_in(3);
  if (is_query) operation.key = key_condition(table, index);
  operation.forward = !is_query || choice_.one_in(2);
  if (choice_.one_in(3)) operation.filter = values_.condition(table, 1);
  if (choice_.one_in(3)) {
    operation.projection = values_.projection(table);
    if (choice_.one_in(3)) operation.select = store::Select::specific_attributes;
  } else if (choice_.one_in(4)) {
    operation.select = static_cast<store::Select>(choice_.between(0, 2));
  }
  if (choice_.one_in(40)) operation.select = static_cast<store::Select>(choice_.between(0, 3));
  if (choice_.one_in(2)) operation.limit = choice_.between(1, 6);
  if (choice_.one_in(6)) operation.start = start_key(table, index);
  operation.consistent = choice_.one_in(index != nullptr && index->global ? 40 : 3);
  if (choice_.one_in(300)) {
    operation.index = "no_such_index";
    if (is_query) operation.key = key_condition(table, nullptr);
  }
  return operation;
}

}  // namespace postino::model
