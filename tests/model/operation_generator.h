// Random tables and operations on the tables that the model has.
#pragma once

#include "model_pages.h"
#include "model_store.h"
#include "value_generator.h"

namespace postino::model {

class OperationGenerator {
 public:
  OperationGenerator(Choice& choice, Vocabulary vocabulary, const ModelStore& store)
      : choice_(choice), values_(choice, vocabulary), store_(store) {}

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
  item::Key key_for_reading(const ModelTable& table);
  void spoil_key(const ModelTable& table, item::Map& subject);
  KeyCondition key_condition(const ModelTable& table, const ModelIndex* index);
  item::Key start_key(const ModelTable& table, const ModelIndex* index);
  const item::Item* any_item(const ModelTable& table);

  Choice& choice_;
  ValueGenerator values_;
  const ModelStore& store_;
};

}  // namespace postino::model
