// Reads the attributes of an item. Another program may have written anything: what is there and has another type is
// not passed over as if it were absent. The first such attribute is remembered, and asked for at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace postino::item {

class Fields {
 public:
  // The item must outlive it.
  explicit Fields(const Map& item) : item_(item) {}

  bool has(std::string_view name) const { return item_.contains(name); }
  std::string text(std::string_view name);    // empty: absent
  std::int64_t whole(std::string_view name);  // 0: absent
  std::int64_t count(std::string_view name);  // the same, and not below 0
  bool flag(std::string_view name);           // false: absent
  const Map* map(std::string_view name);      // nullptr: absent
  void fault(std::string_view name, std::string_view must_be);

  // To be asked before what was read is used. corrupt, with the record's name and the attribute.
  base::Result<void> check(std::string_view record) const;

 private:
  template <class T>
  const T* get(std::string_view name, std::string_view must_be);

  const Map& item_;
  std::string fault_;
};

}  // namespace postino::item
