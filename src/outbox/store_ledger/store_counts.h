// How many e-mails are in each state, kept in step with them: the counts change in the same commit.
//
// There is one slice of counts for each day from which e-mails are kept, a few times over so that writers do not meet.
// The slices of a day expire together, with the e-mails they count (StoreCountExpiry), so the sum over all slices needs
// no correction and no scan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "outbox/ledger/ledger.h"
#include "store/count_mender.h"
#include "store/store.h"

namespace postino::outbox {

// Gathers what one commit changes.
class CountChanges {
 public:
  void entered(const Email& email) { add(email, email.state, 1); }
  void left(const Email& email) { add(email, email.state, -1); }

  // An e-mail is counted in each of its slices.
  struct Slice {
    std::string tenant;
    std::string day;
    friend auto operator<=>(const Slice&, const Slice&) = default;
  };
  static std::vector<Slice> slices_of(const Email& email);

  // How many actions there will be once this e-mail is in as well.
  std::size_t size_with(const Email& email) const;

  // One for each tenant and day concerned. `keep` is how long e-mails are kept.
  std::vector<store::TransactAction> actions(const std::string& table, base::Milliseconds keep, int spread) const;

 private:
  struct Change {
    base::TimePoint kept_from;
    std::map<State, std::int64_t> by_state;
  };
  void add(const Email& email, State state, std::int64_t difference);

  std::map<Slice, Change> changes_;
};

// The tenant of slices that count the e-mails of all. No tenant is called that.
inline constexpr const char* all_tenants_name = "*";

// How many copies of a slice there are.
inline constexpr int count_spread = 8;

// For a transaction that has actions of CountChanges.
store::CountMender mender_of_counts(store::Store& store, const std::string& table);

// The sum over a tenant's slices, or over those of all tenants.
store::Answer<Counts> read_counts(store::Store& store, const std::string& table,
                                  const std::optional<std::string>& tenant);

}  // namespace postino::outbox
