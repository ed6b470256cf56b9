// Pages of what one or several partitions hold. To people, the shards of STATUS#... are one list.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "item/value.h"
#include "reminders/page.h"
#include "reminders/refusal.h"

namespace postino::reminders {

class ReminderStore;

struct Listing {
  // Of the list and of whatever chooses from it ("drafts/draft/first"). A cursor of another list, or of another
  // tenant's, is refused.
  std::string name;
  std::string table;  // empty: the one of reminders
  std::vector<std::string> partitions;
  bool in_index = false;      // GSI1PK and GSI1SK, otherwise PK and SK
  bool newest_first = false;  // from the last sort key to the first; in the index, by the true time within a second
  std::string from;           // sort keys from this, which is included
  std::string to;             // up to this, which is included; empty: to the end
  // Leaves out entries for which it is false. Empty: all of them are shown.
  std::function<bool(const item::Item&)> shows;

  // Sort keys that begin with this, which is not empty.
  void begin_with(const std::string& text);
};

void log_left_out(std::string_view list, const std::string& cause);

// invalid, with the field `cursor` or `limit`, for cursors of other lists and limits that are none. A page may have
// fewer entries than its limit, even none, and yet a cursor: one call reads a bounded number of items.
OrRefusal<Page<item::Item>> list_items(ReminderStore& store, const Listing& listing, const PageRequest& page);

// What another program wrote wrong hides no others: it is counted and logged, by the name of its list ("customers").
template <class T>
void leave_out(Page<T>& page, std::string_view list, const std::string& cause) {
  ++page.unreadable;
  log_left_out(list, cause);
}
// A page of what can be read. `read` answers an entry, or an error.
template <class T, class Read>
Page<T> readable_page(const Page<item::Item>& items, std::string_view list, const Read& read) {
  Page<T> page;
  page.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    auto entry = read(item);
    if (entry)
      page.entries.push_back(*std::move(entry));
    else
      leave_out(page, list, entry.error().message);
  }
  return page;
}

// For lists with another position than an item's: invalid, with the field `cursor`, for cursors of other lists.
OrRefusal<std::string> read_list_cursor(const std::string& list, const std::string& cursor);
// invalid, with the field `limit`, when there are no such pages.
OrRefusal<void> check_limit(int limit);

}  // namespace postino::reminders
