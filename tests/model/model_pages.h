// What Query and Scan must answer, worked out row by row.
#pragma once

#include "model_store.h"

namespace postino::model {

// An item as its table or index has it.
struct Row {
  item::Item item;
  item::Item entry;  // what the index keeps of it; the item itself in a table
};

struct ExpectedPage {
  std::vector<item::Item> items;
  int count = 0;
  int scanned_count = 0;
  std::optional<item::Key> last_evaluated_key;
  double table_units = 0;
  double index_units = 0;
  std::size_t next = 0;  // the row that the next page begins with
};

class ModelPages {
 public:
  ModelPages(const ModelStore& store, const PageOperation& operation) : store_(store), operation_(operation) {}

  // Refuses what the store must refuse.
  Expected<void> check() const;

  // Everything in reach, by sort key in the wanted direction; a scan's rows by their keys. The order of
  // rows with equal sort keys is not defined, nor that of partitions in a scan.
  std::vector<Row> rows() const;

  // Why `ordered` cannot be the order of these rows; empty when it can.
  std::string fault_of_order(const std::vector<Row>& ordered) const;

  // The first row after the start key; nothing when only the store can know.
  std::optional<std::size_t> first_row(const std::vector<Row>& ordered) const;

  ExpectedPage page(const std::vector<Row>& ordered, std::size_t first) const;

  // The attributes that tell a position: the table's key and the index's.
  item::Key position_of(const item::Item& item) const;

 private:
  const ModelTable& table() const { return store_.tables.at(operation_.table); }
  const ModelIndex* index() const;
  std::vector<std::string> hash_names() const;
  std::vector<std::string> range_names() const;
  KeyValues range_values(const item::Map& item) const;
  bool selects(const item::Map& item) const;
  bool satisfies_range(const item::Map& item) const;
  bool fetches_items() const;
  item::Item shown(const Row& row) const;
  std::vector<std::string> attributes_of_filter() const;
  std::vector<std::string> attributes_of_projection() const;

  void check_expressions(std::vector<std::string>& faults) const;
  void check_index(std::vector<std::string>& faults) const;
  void check_start(std::vector<std::string>& faults) const;

  const ModelStore& store_;
  const PageOperation& operation_;
};

}  // namespace postino::model
