// How many e-mails are in each state, kept in step with them: the counts change in the same transaction.
//
// Each count has several slices, and transactions that run at the same time change different ones, so that none waits
// for a row of counts until another one's commit is on the disk.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/random.h"
#include "mysql/connection.h"
#include "outbox/ledger/ledger.h"

namespace postino::outbox {

inline constexpr std::size_t count_slices = 256;

// Who uses which slice. Transactions of one ledger never meet, unless there are more of them than slices. Each process
// begins at a place of its own, so that those of several processes hardly ever do. Safe to use from any thread.
class CountLanes {
 public:
  explicit CountLanes(base::Random& random) : first_(random.next() % count_slices) {}

  class Lane {
   public:
    explicit Lane(CountLanes& lanes) : lanes_(lanes), slice_(lanes.take()) {}
    ~Lane() { lanes_.give_back(slice_); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    std::size_t slice() const { return slice_; }

   private:
    CountLanes& lanes_;
    const std::size_t slice_;
  };

 private:
  std::size_t take();
  void give_back(std::size_t slice);

  const std::size_t first_;
  std::mutex mutex_;
  std::array<int, count_slices> users_{};
};

// Gathers what one transaction changes.
class CountDifferences {
 public:
  void entered(const std::string& tenant, State state) { add(tenant, state, 1); }
  void left(const std::string& tenant, State state) { add(tenant, state, -1); }
  // Of one count alone: a tenant's, or, of the tenant '', that of all tenants.
  void correct(const std::string& tenant, State state, std::int64_t difference) {
    differences_[{tenant, name_of(state)}] += difference;
  }

  // To be the last statement before the commit. In the order of the keys, so that two that do meet wait, and no more.
  mysql::Result<void> write(mysql::Connection& connection, std::size_t slice) const;

 private:
  void add(const std::string& tenant, State state, std::int64_t difference);

  std::map<std::pair<std::string, std::string_view>, std::int64_t> differences_;  // by tenant and state
};

// Makes the counts those of the rows, whatever other programs have deleted or written. Looks at all rows, in one
// statement and without locks; others may work meanwhile. How many counts were wrong.
mysql::Result<int> recount(mysql::Connection& connection);

// A tenant's, or those of all tenants.
mysql::Result<Counts> read_counts(mysql::Connection& connection, const std::optional<std::string>& tenant);

}  // namespace postino::outbox
