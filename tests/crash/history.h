// What the test knows: everything the writer announced, in order, and whether the store agrees.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/consistency_testing.h"
#include "operation.h"

namespace postino::crash {

using engine::Faults;

struct Totals {
  int kills = 0;
  std::int64_t acknowledged = 0;
  std::int64_t refused = 0;
  std::int64_t in_flight_applied = 0;
  std::int64_t in_flight_not_applied = 0;
  std::int64_t expired = 0;
  std::int64_t stream_records = 0;
  std::int64_t repeated_transactions = 0;
};

// Checks one round after the other; a round is the life of one writer.
class History {
 public:
  // Takes an announcement of the writer.
  void announced(const std::string& line);
  std::int64_t acknowledged_in_round() const { return acknowledged_in_round_; }

  // Compares the store with what was announced. `now` is the store's time. Called again whenever the store has done
  // more, by itself or by repeat_transactions().
  Faults check(store::Store& store, base::TimePoint now);
  // Sends the transactions in flight that have a token again: they must succeed if they were done, and not be done
  // twice.
  Faults repeat_transactions(store::Store& store);
  // Closes the books of this round; what the store holds now is where the next one begins.
  void end_round(Totals& totals);

 private:
  using Place = std::pair<TableNumber, int>;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  enum class State { in_flight, acknowledged, refused };
  struct Entry {
    Operation operation;
    State state = State::in_flight;
    std::int64_t announced_at = 0;  // positions among all announcements
    std::int64_t settled_at = never;
    std::vector<bool> applied;  // by action
  };
  struct Cause {
    Entry* entry = nullptr;
    std::size_t action = 0;
  };

  void settle(OperationId id, State state);
  void check_stream(store::Store& store, TableNumber table, base::TimePoint now, Faults& faults);
  void check_record(TableNumber table, const store::StreamRecord& record, base::TimePoint now, Faults& faults);
  Cause cause_of_image(const Place& place, const item::Item& image);
  Cause cause_of_removal(const Place& place, OperationId removed);
  void check_entry(const Entry& entry, Faults& faults) const;
  bool leaves_record(const Action& action) const;
  void check_notes(store::Store& store, Faults& faults);
  void check_switches(store::Store& store, Faults& faults);

  std::int64_t position_ = 0;
  std::int64_t acknowledged_in_round_ = 0;
  std::map<OperationId, Entry> entries_;  // of this round
  std::vector<OperationId> order_;        // as announced
  Faults failures_;                       // that the writer met
  std::map<TableNumber, engine::StreamReplay> replays_ = {
      {TableNumber::orders, engine::StreamReplay(table_name(TableNumber::orders))},
      {TableNumber::ledger, engine::StreamReplay(table_name(TableNumber::ledger))}};
  std::map<Place, std::int64_t> shown_until_;        // the latest announcement that the stream has shown for a place
  std::set<std::pair<Place, OperationId>> expired_;  // in this round
  std::int64_t records_ = 0;
  std::int64_t repeated_ = 0;

  std::map<int, item::Item> notes_;  // as the round began, and as they were found last
  std::map<int, item::Item> found_notes_;
  struct Switches {
    bool index = false;
    bool stream = false;
  };
  Switches switches_;
  Switches found_switches_;
};

}  // namespace postino::crash
