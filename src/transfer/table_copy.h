// Copies the items of a table from one store to another, whichever kinds of stores they are.
//
// What the target has already stays as it is. So a copy that was broken off goes on when it is started again, and what
// is done costs reads alone. No program should write to either table meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::transfer {

struct CopiedTable {
  std::string name;
  store::KeySchema keys;
  std::string expiry;                 // the attribute by which its items expire; empty: they do not
  std::vector<std::string> left_out;  // what the hash key of items begins with that are neither copied nor counted
};

struct TableCopyOptions {
  int segments = 8;                                          // of the source, read at the same time
  base::Milliseconds longest_count = std::chrono::hours(1);  // if counting takes longer, it is repeated
  std::size_t most_failures = 100;                           // that are told one by one
};

struct ItemCounts {
  std::int64_t copied = 0;
  std::int64_t present = 0;              // had been there
  std::int64_t different = 0;            // had been there in another form, and stayed as they were
  std::int64_t failed = 0;               // were not taken by the target
  std::vector<std::string> failures;     // the first of them, with the reason
  std::vector<std::string> differences;  // keys of the first that are different
};

// How many items there are on both sides. Those that expire meanwhile are left out: either side may have removed them.
struct ItemComparison {
  std::int64_t source = 0;
  std::int64_t target = 0;
  bool equal() const { return source == target; }
};

class TableCopy {
 public:
  // Called by several threads, one at a time.
  using Progress = std::function<void(std::int64_t done)>;

  // Everything given must outlive it. Both tables must be there, and have these keys.
  TableCopy(store::Store& source, store::Store& target, CopiedTable table, const base::Clock& clock, store::Retry retry,
            TableCopyOptions options = {});

  // Ends with the first error of a store. An item that the target refuses for what it is does not keep the others back.
  base::Result<ItemCounts> copy(const Progress& progress);
  // Goes on where copy() has ended: `progress` counts the items of both sides.
  base::Result<ItemComparison> compare(const Progress& progress);

 private:
  using Visit = std::function<store::Answer<void>(store::PageResponse)>;

  store::ScanRequest scan_of_all() const;
  store::ScanRequest count_until(base::TimePoint end) const;
  base::Result<bool> is_empty(store::Store& store) const;
  base::Result<void> visit(store::Store& store, const store::ScanRequest& scan, const Visit& visit) const;
  base::Result<std::int64_t> count(store::Store& store, const store::ScanRequest& scan,
                                   const std::function<void(std::int64_t)>& note) const;
  store::Answer<void> take_over(std::span<item::Item> items);
  store::Answer<std::vector<item::Item>> find_absent(std::span<item::Item> items);
  store::Answer<void> write(std::vector<item::Item> items);
  store::Answer<void> write_batch(std::span<const item::Item> items);
  store::Answer<void> write_one(const item::Item& item);
  item::Key key_of(const item::Item& item) const;
  void add(std::int64_t ItemCounts::*which, std::int64_t count);
  void note_difference(const item::Item& item);

  store::Store& source_;
  store::Store& target_;
  const CopiedTable table_;
  const base::Clock& clock_;
  const store::Retry retry_;
  const TableCopyOptions options_;
  bool is_target_empty_ = false;
  std::mutex mutex_;
  ItemCounts counts_;
};

// How many items of a table the filter of this scan lets through. Reads `segments` parts at the same time. `note` gets
// how many more were found, by several threads.
base::Result<std::int64_t> count_items(store::Store& store, store::ScanRequest scan, int segments,
                                       const store::Retry& retry, const std::function<void(std::int64_t)>& note);

}  // namespace postino::transfer
