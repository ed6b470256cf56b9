// Writers that know what they wrote, for tests that take the disk away from under them.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace postino::engine {

// Two tables with indexes of every projection and streams with both images.
inline const std::vector<std::string> workload_tables = {"accounts", "ledger"};
void create_workload_tables(store::Store& store);

// Writes to keys that no other writer touches, one request after the other, so it knows what each must leave behind.
// Used by one thread at a time.
class WorkloadWriter {
 public:
  WorkloadWriter(int number, std::uint64_t seed) : number_(number), random_(seed) {}

  // A put, update, delete, batch or transaction over both tables. False, with the error kept, when it was not done.
  bool write_once(store::Store& store);
  const std::optional<store::Error>& error() const { return error_; }

  std::size_t acknowledged() const { return acknowledged_; }
  std::size_t attempted() const { return writes_.size(); }

  // Does the store hold what the first `prefix` of the writes since the last settle() leave?
  bool matches(store::Store& store, std::size_t prefix) const;
  // The largest such number that is at least `least`.
  std::optional<std::size_t> matching_prefix(store::Store& store, std::size_t least) const;
  // Forgets the writes after that number and goes on from there.
  void settle(std::size_t prefix);

 private:
  using Place = std::pair<std::string, std::string>;  // table, id
  using State = std::map<Place, item::Item>;
  struct Effect {
    Place place;
    std::optional<item::Item> item;  // nothing: deleted
  };
  using Write = std::vector<Effect>;

  std::string some_id();
  item::Item make_item(const Place& place);
  State state_after(std::size_t prefix) const;
  State find_mine(store::Store& store) const;
  bool finish(Write write, std::optional<store::Error> error);

  bool put(store::Store& store);
  bool update(store::Store& store);
  bool remove(store::Store& store);
  bool batch(store::Store& store);
  bool transact(store::Store& store);

  static void apply(const Write& write, State& state);

  const int number_;
  std::mt19937_64 random_;
  std::int64_t version_ = 0;
  State settled_;
  State latest_;  // after all writes
  std::vector<Write> writes_;
  std::size_t acknowledged_ = 0;
  std::optional<store::Error> error_;
};

}  // namespace postino::engine
