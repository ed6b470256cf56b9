// Tables, time and everything that happens by itself.
#include "request_text.h"
#include "runner.h"

namespace postino::model {

namespace {

constexpr std::size_t max_global_indexes_in_test = 5;

std::vector<std::string> global_names(const ModelTable& table) {
  std::vector<std::string> names;
  for (const ModelIndex& index : table.indexes)
    if (index.global) names.push_back(index.name);
  return names;
}

bool is_being_filled(const ModelTable& table) {
  for (const ModelIndex& index : table.indexes)
    if (index.filling) return true;
  return false;
}

}  // namespace

void Runner::create_table(const std::string& name) {
  ModelTable table = generator_.table(name);
  const store::CreateTableRequest request = create_request(table);
  announce(text_of(request));
  const auto created = store().create_table(request);
  if (!created) return expect_same("refused with " + text_of(created.error()));
  model_.tables.insert_or_assign(name, std::move(table));
  followers_.erase(name);
}

void Runner::replace_table() {
  const ModelTable table = generator_.any_table();
  announce("delete table " + table.name);
  drain(table);
  const auto described = store().describe_table(table.name);
  const auto deleted = store().delete_table(table.name);
  if (is_being_filled(table)) {
    if (deleted) expect_same("deleted while an index was being created");
    return;
  }
  if (!deleted) return expect_same("refused with " + text_of(deleted.error()));
  model_.tables.erase(table.name);
  followers_.erase(table.name);
  // A stream outlives its table.
  if (table.stream && described) check_stream(table, *described->latest_stream_arn);
  if (failure_.empty()) create_table(table.name);
}

void Runner::add_index() {
  ModelTable& table = model_.tables.at(generator_.any_table().name);
  if (global_names(table).size() >= max_global_indexes_in_test) return;
  ModelIndex index = generator_.global_index(table, "added_" + std::to_string(index_number_++));
  store::UpdateTableRequest request;
  request.table_name = table.name;
  request.attribute_definitions = definitions_of(table, index.keys());
  request.global_index_updates.emplace_back(store::CreateGlobalIndex{global_definition(index)});
  announce("add index to " + table.name + ": " + text_of(global_definition(index)));
  const auto updated = store().update_table(request);
  if (is_being_filled(table)) {
    if (updated || updated.error().type != store::ErrorType::limit_exceeded)
      expect_same("a second index while the first was being filled");
    return;
  }
  if (!updated) return expect_same("refused with " + text_of(updated.error()));
  index.filling = !table.items.empty();
  table.indexes.push_back(std::move(index));
}

void Runner::remove_index() {
  ModelTable& table = model_.tables.at(generator_.any_table().name);
  const std::vector<std::string> names = global_names(table);
  if (names.empty()) return;
  const std::string name = choice_.of(names);
  store::UpdateTableRequest request;
  request.table_name = table.name;
  request.global_index_updates.emplace_back(store::DeleteGlobalIndex{name});
  announce("remove index " + name + " of " + table.name);
  const auto updated = store().update_table(request);
  if (is_being_filled(table) && !table.find_index(name)->filling) {
    if (updated) expect_same("an index was removed while another was being filled");
    return;
  }
  if (!updated) return expect_same("refused with " + text_of(updated.error()));
  std::erase_if(table.indexes, [&](const ModelIndex& index) { return index.name == name; });
}

void Runner::switch_time_to_live() {
  ModelTable& table = model_.tables.at(generator_.any_table().name);
  const bool enable = !table.time_to_live;
  announce(std::string(enable ? "enable" : "disable") + " time to live of " + table.name);
  const auto updated = store().update_time_to_live(table.name, {"exp", enable});
  if (!updated) return expect_same("refused with " + text_of(updated.error()));
  table.time_to_live = enable ? std::optional<std::string>("exp") : std::nullopt;
}

void Runner::switch_stream() {
  ModelTable& table = model_.tables.at(generator_.any_table().name);
  const bool enable = !table.stream;
  const auto described = store().describe_table(table.name);
  drain(table);
  store::UpdateTableRequest request;
  request.table_name = table.name;
  request.stream = store::StreamSpecification{enable, std::nullopt};
  if (enable) request.stream->view_type = static_cast<store::StreamViewType>(choice_.between(0, 3));
  announce(std::string(enable ? "enable" : "disable") + " stream of " + table.name);
  const auto updated = store().update_table(request);
  if (!updated) return expect_same("refused with " + text_of(updated.error()));
  if (!enable) {
    const auto end = followers_[table.name].subscription->next(10, base::Milliseconds(0));
    if (end || end.error().type != store::ErrorType::resource_not_found)
      expect_same("a reader of a disabled stream is not told of its end");
    check_stream(table, *described->latest_stream_arn);
  }
  followers_.erase(table.name);
  table.stream = enable ? request.stream->view_type : std::nullopt;
  table.records.clear();
}

void Runner::advance_clock() {
  using namespace std::chrono;
  milliseconds step = milliseconds(choice_.between(0, 30'000));
  if (choice_.one_in(4)) step = minutes(choice_.between(5, 11));
  if (choice_.one_in(12)) step = hours(choice_.between(1, 9));
  // No reader may be left behind by more than what a stream keeps.
  for (const auto& [name, table] : model_.tables) drain(table);
  if (choice_.one_in(100)) step = hours(choice_.between(23, 50));
  announce("advance the clock by " + std::to_string(step.count()) + " ms");
  clock_->advance(step);
}

// What maintenance has got done is the store's to decide; that it is nothing but what was due is checked here and by
// everything that follows.
void Runner::learn_from_maintenance() {
  for (auto& [name, table] : model_.tables) {
    const auto described = store().describe_table(name);
    if (!described) return expect_same("refused with " + text_of(described.error()));
    for (const store::IndexDescription& index : described->global_indexes)
      if (ModelIndex* known = table.find_index(index.name)) known->filling &= index.backfilling.value_or(false);
    std::vector<item::Key> expired;
    for (const auto& [key, item] : table.items)
      if (table.is_expired(item, model_.now())) expired.push_back(table.key_of(item));
    for (const item::Key& key : expired) {
      store::GetItemRequest request;
      request.table_name = name;
      request.key = key;
      const auto found = store().get_item(request);
      if (!found) return expect_same("refused with " + text_of(found.error()));
      if (!found->item) table.change(key, std::nullopt, model_.now(), true);
    }
  }
}

void Runner::maintain_once() {
  announce("maintain once");
  const auto more = engine_->run_maintenance_once();
  if (!more) return expect_same("maintenance failed: " + text_of(more.error()));
  learn_from_maintenance();
}

void Runner::maintain_until_done() {
  announce("maintain until done");
  // Twice: a pass that was begun earlier may end without having seen the latest writes.
  for (int round = 0; round < 2; ++round) {
    bool more = true;
    while (more) {
      const auto result = engine_->run_maintenance_once();
      if (!result) return expect_same("maintenance failed: " + text_of(result.error()));
      more = *result;
    }
  }
  learn_from_maintenance();
  for (const auto& [name, table] : model_.tables) {
    if (is_being_filled(table)) expect_same("an index of " + name + " is still being filled");
    for (const auto& [key, item] : table.items)
      if (table.is_expired(item, model_.now())) expect_same("not expired: " + text_of(std::optional(item)));
  }
}

}  // namespace postino::model
