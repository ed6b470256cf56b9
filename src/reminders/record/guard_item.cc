#include "reminders/record/guard_item.h"

#include <algorithm>
#include <utility>

#include "reminders/record/item_fields.h"

namespace postino::reminders {

Guard Guard::with(const std::string& type, base::TimePoint at, const std::string& record) const {
  Guard guard = *this;
  const auto known = std::ranges::find(guard.last, type, &LastSent::type);
  if (known == guard.last.end())
    guard.last.push_back({type, at, record});
  else if (at >= known->at)
    *known = {type, at, record};
  // A key can be later than its time, where one was taken: then later ones of other programs would be overlooked.
  guard.seen = std::max(guard.seen, std::min(record, key_time(at)));
  return guard;
}

item::Item guard_item(const Keys& keys, std::string_view customer_id, const Guard& guard) {
  item::Item item = Keys::key(keys.customer(customer_id), guard_sort);
  item::Map last;
  for (const LastSent& each : guard.last)
    last.set(each.type, item::Map{{"at_ms", base::epoch_milliseconds(each.at)}, {"record", each.record}});
  item.set("last", std::move(last));
  set_text(item, "seen", guard.seen);
  item.set("version", guard.version);
  return item;
}

base::Result<Guard> read_guard(const item::Item& item) {
  ItemFields fields(item);
  Guard guard;
  const auto broken = [&](const std::string& what) {
    return base::fail(base::ErrorCode::corrupt, "the record " + key_text(item) + " cannot be read: " + what);
  };
  if (const item::Map* const last = fields.map("last"))
    for (const item::Attribute& each : *last) {
      const item::Map* const entry = each.value.get_if<item::Map>();
      if (entry == nullptr) return broken("last must have maps");
      ItemFields of_type(*entry);
      const auto at = of_type.moment("at_ms");
      guard.last.push_back({each.name, at.value_or(base::TimePoint()), of_type.text("record")});
      if (!at || !of_type.check()) return broken("last." + each.name + " must have at_ms and record");
    }
  guard.seen = fields.text("seen");
  guard.version = fields.whole("version");
  TRY_VOID(fields.check());
  // Without one, no commit could tell that it is the same guard.
  if (guard.version < 1) return broken("version must be a whole number from 1 on");
  return guard;
}

}  // namespace postino::reminders
