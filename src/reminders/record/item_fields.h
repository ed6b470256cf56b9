// Reads the attributes of an item. Another program may have written anything: what is there and has another type is
// not passed over as if it were absent. The first such attribute is remembered, and asked for at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "reminders/text/money.h"

namespace postino::reminders {

class ItemFields {
 public:
  // The item must outlive it.
  explicit ItemFields(const item::Item& item) : item_(item) {}

  bool has(std::string_view name) const { return item_.contains(name); }
  std::string text(std::string_view name);                       // empty: absent
  std::int64_t whole(std::string_view name);                     // 0: absent; not larger than 2^53: one may be added
  int count(std::string_view name);                              // the same, from 0 to a thousand million
  bool flag(std::string_view name);                              // false: absent
  std::optional<base::TimePoint> time(std::string_view name);    // the seed's text
  std::optional<base::TimePoint> moment(std::string_view name);  // milliseconds since 1970
  // Of a record: its milliseconds, the seed's text, or the time of its key, which stands in for what cannot be read.
  std::optional<base::TimePoint> time_of_record(std::string_view milliseconds, std::string_view text,
                                                const std::optional<base::TimePoint>& of_key);
  std::vector<std::string> texts(std::string_view name);      // a list or a set of strings
  std::optional<item::Number> number(std::string_view name);  // also as a text: programs of others write both
  std::optional<Money> money(std::string_view amount, std::string_view currency, const std::string& usual_currency);
  const item::Map* map(std::string_view name);  // nullptr: absent

  // "DRAFT#": what follows it in the sort key. Faulty when the sort key does not begin with it.
  std::string sort_after(std::string_view begin);

  // To be asked before what was read is used. corrupt, with the item's key and the attribute.
  base::Result<void> check() const;

 private:
  template <class T>
  const T* get(std::string_view name, std::string_view must_be);
  void fault(std::string_view name, std::string_view must_be);

  const item::Item& item_;
  std::string fault_;
};

// Adds it unless it is empty: absent attributes are read as empty ones.
void set_text(item::Item& item, std::string_view name, const std::string& text);
void set_count(item::Item& item, std::string_view name, std::int64_t count);
void set_texts(item::Item& item, std::string_view name, const std::vector<std::string>& texts);
void set_moment(item::Item& item, std::string_view name, const std::optional<base::TimePoint>& time);
void set_money(item::Item& item, std::string_view amount, std::string_view currency, const std::optional<Money>& money);

// The key of an item, for people: "CUSTOMER#cust_001/GUARD".
std::string key_text(const item::Item& item);

}  // namespace postino::reminders
