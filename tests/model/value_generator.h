// Random values and expressions over a small vocabulary, so that they meet.
#pragma once

#include "choice.h"
#include "expression_tree.h"
#include "model_table.h"

namespace postino::model {

// How much there is of everything.
struct Vocabulary {
  int hash_values = 4;
  int range_values = 8;  // in a table without a range key there are so many times more hash keys
  int index_values = 5;
  std::size_t padding = 0;  // items may carry a string of up to this many bytes
};

class ValueGenerator {
 public:
  ValueGenerator(Choice& choice, Vocabulary vocabulary) : choice_(choice), vocabulary_(vocabulary) {}

  // The number-th value of a scalar type, always the same.
  static item::AttributeValue scalar(item::Type type, int number);

  item::AttributeValue key_value(const ModelTable& table, const std::string& name);
  item::Key key(const ModelTable& table);
  item::Item item(const ModelTable& table, base::TimePoint now);
  // The attributes that are no keys of the table.
  static const std::vector<std::string>& data_attributes();

  Condition condition(const ModelTable& table, int depth = 2);
  Update update(const ModelTable& table, base::TimePoint now);
  Projection projection(const ModelTable& table);

 private:
  item::AttributeValue small_value(int depth);
  item::AttributeValue value_for(const ModelTable& table, const std::string& name, base::TimePoint now);
  item::AttributeValue expiry_value(base::TimePoint now);
  item::AttributeValue small_set();
  Path path(const ModelTable& table, bool with_keys);
  Path document_path();
  Condition comparison(const ModelTable& table);
  item::AttributeValue literal_near(const ModelTable& table, const Path& path);
  UpdateValue update_value(const ModelTable& table, const Path& target, base::TimePoint now);
  UpdateAction update_action(const ModelTable& table, base::TimePoint now);

  Choice& choice_;
  Vocabulary vocabulary_;
};

}  // namespace postino::model
