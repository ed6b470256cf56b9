// Removes the counts of days whose e-mails are finished and too old. The counts of a day are spread over several
// slices: what one has too many, another has too few. So they go in one commit, and not by their time to live one by
// one.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"

namespace postino::outbox {

// Used by one thread at a time.
class StoreCountExpiry {
 public:
  // Both must outlive it.
  StoreCountExpiry(store::Store& store, StoreTables tables, const base::Clock& clock)
      : store_(store), tables_(std::move(tables)), clock_(clock) {}

  // Looks at one page of the counts, and goes on behind it at the next call. False at the end of the table.
  base::Result<bool> run_once();

 private:
  // Unless e-mails of that day are not finished, or a part of its counts is to be kept longer.
  base::Result<void> remove_if_over(const CountChanges::Slice& day);

  store::Store& store_;
  const StoreTables tables_;
  const base::Clock& clock_;
  std::optional<item::Key> next_;  // the page begins behind this one
};

}  // namespace postino::outbox
