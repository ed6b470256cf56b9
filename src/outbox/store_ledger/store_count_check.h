// Are the counts of e-mails those of the e-mails that are there? Gets the items of a store that no program uses, one by
// one and in any order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "item/value.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/store_layout.h"

namespace postino::outbox {

class StoreCountCheck {
 public:
  // `keep` is how long e-mails are kept.
  StoreCountCheck(StoreTables tables, base::TimePoint now, base::Milliseconds keep)
      : tables_(std::move(tables)), now_(now), keep_(keep) {}

  // Items of other tables are passed over.
  void add(const std::string& table, const item::Item& item);

  // One line for each count that differs. Finished e-mails of a day expire one by one, and the counts of the day behind
  // them: on the last day they may be larger than what is there, and after it they may be gone.
  std::vector<std::string> differences() const;
  // The first e-mails whose records cannot be read, with the reason. They are not counted.
  std::vector<std::string> unreadable() const;

 private:
  struct Day {
    Counts there{};
    Counts counted{};
    std::array<bool, state_count> is_spoilt{};         // something else stands in the place of a count
    base::TimePoint expires = base::TimePoint::max();  // the first of its counts
  };

  void add_email(const item::Item& item);
  void add_slice(const item::Item& slice);
  bool may_differ(const Day& day, State state) const;

  const StoreTables tables_;
  const base::TimePoint now_;
  const base::Milliseconds keep_;
  std::map<CountChanges::Slice, Day> days_;
  std::vector<std::string> unreadable_;
  std::size_t unreadable_count_ = 0;
};

}  // namespace postino::outbox
