// Random tables and operations on the tables that the model has.
#pragma once

#include "model_pages.h"
#include "model_store.h"
#include "value_generator.h"

namespace postino::model {

class OperationGenerator {
 public:
  OperationGenerator(Choice& choice, Vocabulary vocabulary, const ModelStore& store)
      : choice_(choice),
        values_(choice, vocabulary),
        largest_batch_(vocabulary.hash_values * vocabulary.range_values > 100 ? 25 : 8),
        store_(store) {}

  ModelTable table(const std::string& name);
  ModelIndex global_index(const ModelTable& table, const std::string& name);

  const ModelTable& any_table();
  WriteOperation write();
  GetOperation get();
  std::vector<WriteOperation> batch_write();
  std::vector<GetOperation> batch_get();
  std::vector<GetOperation> transact_get();
  std::vector<WriteOperation> transact_write();
  PageOperation page();

 private:
  ModelIndex local_index(const ModelTable& table, const std::string& name);
  void choose_projection(ModelIndex& index);
  WriteOperation write_to(const ModelTable& table, WriteOperation::Kind kind);
  // Expressions that make sense for the item, more often than not.
  Condition condition_for(const ModelTable& table, const item::Item* item);
  Update update_for(const ModelTable& table, const item::Item& start);
  // Writes to different items, more often than not.
  std::vector<WriteOperation> writes(int count, const std::vector<WriteOperation::Kind>& kinds);
  item::Key key_for_reading(const ModelTable& table);
  void spoil_key(const ModelTable& table, item::Map& subject);
  KeyCondition key_condition(const ModelTable& table, const ModelIndex* index);
  item::Key start_key(const ModelTable& table, const ModelIndex* index);
  const item::Item* any_item(const ModelTable& table);

  Choice& choice_;
  ValueGenerator values_;
  int largest_batch_;
  const ModelStore& store_;
};

}  // namespace postino::model
