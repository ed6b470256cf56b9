// Which of its services' tables a store has had: so that a server does not take one that was lost for one that was
// never made, and make it again, empty. Without the list of suppressions, for one, people get mail who must get none.
//
// The first server notes what it is about to make in an item of the table of idempotency keys, which all services need,
// and adds what was made. So a new service, a new version with another table, and a first start that was broken off
// make what they lack.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"
#include "base/result.h"
#include "store/retry.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::app {

// The hash key of that item. It is true of no other store.
inline constexpr std::string_view made_tables_note = "*tables";

class MadeTables {
 public:
  // Calls nothing yet. The store must outlive it.
  MadeTables(store::Store& store, const Settings& settings, store::Retry retry);

  // Of tables that are wanted, those that were there before, and are not. Where a store of an earlier version has no
  // note, a table counts as one that was there if another one of its service is.
  base::Result<std::vector<std::string>> find_lost(const std::vector<store::TableSetup>& wanted) const;

  // Those that must be there before the rest is made: the note is in one of them.
  std::vector<store::TableSetup> first() const;
  // Notes that these are there. With none: that there will be some.
  base::Result<void> note(const std::vector<store::TableSetup>& made) const;

 private:
  // nullopt: there is no note.
  base::Result<std::optional<std::set<std::string>>> read() const;

  store::Store& store_;
  const std::string notebook_;  // the table that has the note
  const Settings& settings_;
  const store::Retry retry_;
};

// What a server says that does not start for lack of them.
std::string text_of_lost(const std::vector<std::string>& tables);

}  // namespace postino::app
