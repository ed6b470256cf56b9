// Which attributes are the key of a table whose record is lost? Its items show it: the key that an item is stored under
// is made of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/table.h"

namespace postino::engine {

class KeySearch {
 public:
  explicit KeySearch(ObjectId id) : id_(id) {}

  // Of a value that is no item nothing is learned.
  void add(const std::string& key, std::string_view value);

  // The keys that fit all items, the first one without a sort key if there is one; nothing when none fits.
  const std::vector<Table>& keys() const { return keys_; }
  std::uint64_t items() const { return items_; }  // all that were added

 private:
  void find_first(const std::string& key, const item::Item& item);

  ObjectId id_;
  std::uint64_t items_ = 0;
  bool begun_ = false;
  std::vector<Table> keys_;  // tables with nothing but a number and a key
};

}  // namespace postino::engine
