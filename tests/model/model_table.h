// One table of the model: its definition, its items in a map, and what its indexes must hold.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "document.h"
#include "store/stream.h"
#include "store/table_operations.h"

namespace postino::model {

struct ModelIndex {
  std::string name;
  bool global = true;
  std::vector<std::string> hash;
  std::vector<std::string> range;
  store::ProjectionType projection = store::ProjectionType::all;
  std::vector<std::string> included;
  bool filling = false;  // the store is still working on it

  std::vector<std::string> keys() const;
};

// One change that a stream must show.
struct ModelRecord {
  std::optional<item::Item> before;
  std::optional<item::Item> after;
  base::TimePoint time;
  bool by_time_to_live = false;
};

using KeyOfItem = KeyValues;

struct ModelTable {
  std::string name;
  std::string hash;
  std::optional<std::string> range;
  std::map<std::string, item::Type> types;  // of every attribute that is or may become a key
  std::vector<ModelIndex> indexes;
  std::optional<std::string> time_to_live;
  std::optional<store::StreamViewType> stream;
  std::vector<ModelRecord> records;  // of the enabled stream, oldest first
  std::map<KeyOfItem, item::Item, KeyLess> items;

  std::vector<std::string> keys() const;
  const ModelIndex* find_index(const std::string& index_name) const;
  ModelIndex* find_index(const std::string& index_name);

  KeyOfItem key_values(const item::Map& item) const;
  item::Key key_of(const item::Map& item) const;
  const item::Item* find(const item::Map& key) const;

  // Does the index have an entry for the item?
  bool is_indexed(const ModelIndex& index, const item::Item& item) const;
  // The attributes of an index's entry; the whole item when there is no index.
  item::Item entry_of(const ModelIndex* index, const item::Item& item) const;
  bool keeps(const ModelIndex& index, const std::string& attribute) const;

  // Puts or, when there is nothing after, removes; and adds a record when that changes anything.
  void change(const item::Key& key, const std::optional<item::Item>& after, base::TimePoint now,
              bool by_time_to_live = false);

  // Is the item to be removed by the store at this time?
  bool is_expired(const item::Item& item, base::TimePoint now) const;
};

}  // namespace postino::model
