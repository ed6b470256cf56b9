// For services whose outbox shares no commits with their store. In the commit that makes an e-mail they write a record
// of it, into one of a few partitions. The record is removed when the outbox has the e-mail.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/attribute_text.h"
#include "item/value.h"
#include "store/item_operations.h"

namespace postino::outbox {

// How often records are looked for that other processes may have left in a store that is shared.
inline constexpr base::Milliseconds look_for_others_every = std::chrono::seconds(30);

// Goes through the records and hands the e-mails over. `Refusal` is what the service says about something that was not
// done. For one thread at a time.
template <class Refusal>
class HandoverWalk {
 public:
  template <class T>
  using Outcome = base::Result<T, Refusal>;

  struct Records {
    std::vector<item::Item> items;
    std::optional<item::Key> next;  // nullopt at the end of the partition
  };
  struct Steps {
    std::string table;                    // with the keys PK and SK
    std::vector<std::string> partitions;  // where the records are: the same ones, in the same order, in each run
    std::function<Outcome<Records>(const store::QueryRequest& request)> query;
    std::function<Outcome<void>(const item::Item& record)> hand_over;
    // Is it about the outbox or the store as a whole? Otherwise it is about one record.
    std::function<bool(const Refusal& refusal)> is_away;
    // For the log, and once for each record: why it is not in the outbox yet.
    std::function<void(const std::string& record, const Refusal& refusal)> tell;
    std::function<std::string(const item::Item& record)> name_of;
  };

  // How many were handed over. One that cannot be now waits, and keeps no other back; the answer is its error if none
  // could. While the outbox is away a run gives up after a few, and the next one goes on behind them.
  base::Result<int, Refusal> run(const Steps& steps, int limit);
  // Has the last run gone through all records, and left none behind?
  bool has_seen_all() const { return has_seen_all_; }

 private:
  static constexpr int most_refused = 10;         // by an outbox that is away, in one run
  static constexpr std::size_t most_told = 1000;  // records; then the log tells of them again

  // From where the last run gave up, or from the beginning.
  struct Position {
    std::size_t partition = 0;
    std::optional<item::Key> after;
  };

  static item::Key key_of(const item::Item& record) {
    return {{"PK", item::attribute_text(record, "PK")}, {"SK", item::attribute_text(record, "SK")}};
  }
  void tell_once(const Steps& steps, const item::Item& record, const Refusal& refusal);

  Position position_;
  bool has_seen_all_ = false;
  std::set<std::string> told_;  // records that the log tells of
};

template <class Refusal>
base::Result<int, Refusal> HandoverWalk<Refusal>::run(const Steps& steps, int limit) {
  int done = 0;
  int refused = 0;
  std::optional<Refusal> trouble;
  has_seen_all_ = false;
  const Position from = std::exchange(position_, {});
  for (std::size_t partition = from.partition; partition < steps.partitions.size(); ++partition) {
    store::QueryRequest request;
    request.table_name = steps.table;
    request.key_condition = "PK = :pk";
    request.placeholders.values = item::Map{{":pk", steps.partitions[partition]}};
    request.consistent_read = true;
    request.limit = limit;
    if (partition == from.partition) request.exclusive_start_key = from.after;
    do {
      TRY(Records records, steps.query(request));
      for (const item::Item& record : records.items) {
        if (done == limit) return done;
        const auto handed = steps.hand_over(record);
        if (handed) {
          ++done;
          continue;
        }
        trouble = handed.error();
        if (!steps.is_away(*trouble)) {
          tell_once(steps, record, *trouble);
          continue;
        }
        if (++refused < most_refused) continue;
        position_ = {partition, key_of(record)};
        if (done > 0) return done;
        return base::propagate(*std::move(trouble));
      }
      request.exclusive_start_key = std::move(records.next);
    } while (request.exclusive_start_key);
  }
  if (done == 0 && trouble) return base::propagate(*std::move(trouble));
  has_seen_all_ = !trouble && from.partition == 0 && !from.after;
  return done;
}

template <class Refusal>
void HandoverWalk<Refusal>::tell_once(const Steps& steps, const item::Item& record, const Refusal& refusal) {
  if (told_.size() == most_told) told_.clear();
  const std::string name = steps.name_of(record);
  if (told_.insert(name).second) steps.tell(name, refusal);
}

}  // namespace postino::outbox
