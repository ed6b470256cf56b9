#include "messages/local_queue.h"

#include <algorithm>

#include "base/log.h"

namespace postino::messages {

namespace {

using Steady = std::chrono::steady_clock;

constexpr base::Milliseconds look_every{100};  // for what is due: more often only costs time
constexpr int most_rounds = 50;                // of returning or dropping, at a time
constexpr std::uint32_t numbers = 1'000'000;   // of positions in a millisecond
constexpr base::Milliseconds look_for_impossible_every = std::chrono::minutes(1);
// Beside the usual lease: for as long as a receiver may wait for more, and for clocks that differ a little.
constexpr base::Milliseconds longest_extension = std::chrono::minutes(20);
// Of a process that shares the queue, and may be set otherwise than this one.
constexpr base::Milliseconds longest_lease_of_others = std::chrono::hours(24);

bool is_expired(const StoredMessage& message, base::TimePoint now) {
  return message.expires_at && *message.expires_at <= now;
}

StoredMessage leased(StoredMessage message, const LocalQueue::Demand& demand, base::TimePoint now) {
  message.shelf = Shelf::held;
  message.ready_position = std::move(message.position);
  message.position = held_position(now + demand.lease, message.ready_position);
  message.owner = demand.owner;
  ++message.deliveries;
  return message;
}

}  // namespace

// Positions never go back, whatever the clock does.
std::vector<std::string> LocalQueue::next_positions(base::TimePoint time, std::size_t count) {
  std::vector<std::string> positions;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count; ++i) {
    if (time > last_time_) {
      last_time_ = time;
      last_number_ = 0;
    } else if (++last_number_ == numbers) {
      last_time_ += base::Milliseconds(1);
      last_number_ = 0;
    }
    positions.push_back(position_of(last_time_, last_number_, tag_));
  }
  return positions;
}

void LocalQueue::arrived() {
  {
    const std::lock_guard lock(mutex_);
    ++arrivals_;
  }
  changed_.notify_all();
}

std::uint64_t LocalQueue::arrivals() const {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

void LocalQueue::await_arrival(std::uint64_t seen, Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return arrivals_ != seen; });
}

MoveReport LocalQueue::add(std::vector<StoredMessage> messages, base::Milliseconds delay) {
  const base::TimePoint now = clock_.now();
  const std::vector<std::string> positions = next_positions(now, messages.size());
  std::vector<QueueMove> moves;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    StoredMessage& message = messages[i];
    message.queue = name_;
    message.shelf = delay.count() > 0 ? Shelf::later : Shelf::ready;
    message.position = positions[i];
    // Behind what has the same due time: in the order they came.
    if (delay.count() > 0) message.position = position_at(now + delay).append("-").append(positions[i]);
    moves.push_back({std::nullopt, std::move(message)});
  }
  MoveReport report = table_.move(moves);
  arrived();
  return report;
}

StoredMessage LocalQueue::returned_to_ready(StoredMessage message) {
  if (message.shelf == Shelf::held) message.position = std::move(message.ready_position);
  // Another program has not kept it, or has put the message at a place that may be taken on the other shelf.
  if (!begins_with_time(message.position)) message.position = next_position();
  message.shelf = Shelf::ready;
  message.ready_position.clear();
  message.owner.clear();
  return message;
}

std::optional<StoredMessage> LocalQueue::set_aside(const StoredMessage& message) {
  const auto dead = dead_queue(name_);
  if (message.fault.empty() || !dead) return std::nullopt;
  base::log_error("messages", "a message that cannot be read is moved to the dead queue",
                  {{"queue", name_}, {"position", message.position}, {"fault", message.fault}});
  StoredMessage to = message;
  to.queue = *dead;
  to.shelf = Shelf::ready;
  to.position = next_position();
  to.deliveries = 0;
  to.ready_position.clear();
  to.owner.clear();
  return to;
}

void LocalQueue::returned() {
  returned_ = true;
  arrived();
}

store::Answer<void> LocalQueue::return_due(Shelf shelf, store::QueueCursor& cursor, base::TimePoint now) {
  const std::string until = position_at(now + base::Milliseconds(1));
  for (int round = 0; round < most_rounds; ++round) {
    const auto began = Steady::now();
    const base::TimePoint start = std::min(cursor.start(began), now);
    TRY(std::vector<StoredMessage> due,
        table_.read(shelf, name_, position_from(start), until, static_cast<int>(QueueTable::moves_at_once(2))));
    if (due.empty()) {
      cursor.found(start, now, began, Steady::now());
      return {};
    }
    const base::TimePoint seen = time_of(due.back().position);
    const MoveReport report = return_these(std::move(due), now);
    if (report.trouble) {
      cursor.sweep_next();
      return base::propagate(*report.trouble);
    }
    cursor.found(start, seen, began, Steady::now());
  }
  looked_ = {};  // there may be more
  return {};
}

MoveReport LocalQueue::return_these(std::vector<StoredMessage> messages, base::TimePoint now) {
  std::vector<QueueMove> moves;
  for (StoredMessage& message : messages) {
    std::optional<StoredMessage> to;
    if (!is_expired(message, now)) {
      to = set_aside(message);
      if (!to) to = returned_to_ready(message);
    }
    moves.push_back({std::move(message), std::move(to)});
  }
  ready_.sweep_next();
  return table_.move(moves);
}

store::Answer<void> LocalQueue::return_from(Shelf shelf, const std::string& first, base::TimePoint now,
                                            std::string_view reason) {
  for (int round = 0; round < most_rounds; ++round) {
    TRY(std::vector<StoredMessage> found,
        table_.read(shelf, name_, first, "", static_cast<int>(QueueTable::moves_at_once(2))));
    if (found.empty()) return {};
    base::log_warning("messages", reason, {{"queue", name_}, {"messages", std::to_string(found.size())}});
    const MoveReport report = return_these(std::move(found), now);
    if (report.trouble) return base::propagate(*report.trouble);
  }
  return {};
}

// A clock that was far ahead grants leases that end long after every receiver is gone. They are at the end of the
// shelf. So is what another program has put on the shelf "later" at a place that is no time.
store::Answer<void> LocalQueue::return_impossible(base::TimePoint now) {
  const base::Milliseconds passed = clock_.monotonic();
  const bool looked_lately = looked_for_impossible_ && passed - *looked_for_impossible_ < look_for_impossible_every;
  if (looked_lately || clock_.is_doubtful()) return {};
  const base::Milliseconds lease = table_.is_shared() ? std::max(lease_, longest_lease_of_others) : lease_;
  const base::TimePoint latest = now + 2 * lease + longest_extension;
  TRY_VOID(return_from(Shelf::held, position_at(latest), now,
                       "leases that a clock which was far ahead has granted are ended"));
  TRY_VOID(return_from(Shelf::later, ":", now, "messages that would never have been due are given out"));
  looked_for_impossible_ = passed;
  return {};
}

store::Answer<void> LocalQueue::return_due() {
  const std::lock_guard lock(turn_);
  return look_for_due();
}

store::Answer<void> LocalQueue::look_for_due() {
  const base::TimePoint now = clock_.now();
  if (now >= looked_ && now < looked_ + look_every) return {};
  looked_ = now;
  TRY_VOID(return_due(Shelf::later, later_, now));
  TRY_VOID(return_due(Shelf::held, held_, now));
  return return_impossible(now);
}

// False when there is no more, or no room for more.
store::Answer<bool> LocalQueue::take_some(const Demand& demand, std::size_t& bytes, std::vector<StoredMessage>& taken) {
  const auto began = Steady::now();
  const base::TimePoint start = ready_.start(began);
  const base::TimePoint now = clock_.now();
  const std::size_t wanted = std::min(demand.messages - taken.size(), QueueTable::moves_at_once(2));
  TRY(std::vector<StoredMessage> found,
      table_.read(Shelf::ready, name_, position_from(start), "", static_cast<int>(wanted)));
  if (found.empty()) {
    ready_.found(start, now, began, Steady::now());
    return false;
  }
  std::vector<QueueMove> moves;
  for (StoredMessage& message : found) {
    if (bytes >= demand.bytes) break;
    std::optional<StoredMessage> to;
    if (!is_expired(message, now)) to = set_aside(message);
    if (!is_expired(message, now) && !to) {
      if (demand.room && !demand.room(message.content.size())) break;
      bytes += message.content.size();
      to = leased(message, demand, now);
    }
    moves.push_back({std::move(message), std::move(to)});
  }
  if (moves.empty()) return false;
  const MoveReport report = table_.move(moves);
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (report.done[i] && moves[i].to && moves[i].to->shelf == Shelf::held) taken.push_back(std::move(*moves[i].to));
  if (report.trouble) {
    ready_.sweep_next();
    return base::propagate(*report.trouble);
  }
  ready_.found(start, time_of(moves.back().from->position), began, Steady::now());
  return true;
}

store::Answer<std::vector<StoredMessage>> LocalQueue::take(const Demand& demand) {
  const std::lock_guard lock(turn_);
  if (returned_.exchange(false)) ready_.sweep_next();
  TRY_VOID(look_for_due());
  std::vector<StoredMessage> taken;
  std::size_t bytes = 0;
  while (taken.size() < demand.messages && bytes < demand.bytes) {
    const auto more = take_some(demand, bytes, taken);
    if (!more && taken.empty()) return base::propagate(more.error());
    if (!more || !*more) break;
  }
  return taken;
}

store::Answer<QueueTable::Counts> LocalQueue::counts(std::uint64_t most) {
  constexpr std::chrono::seconds shortest_pause{10};
  constexpr int pause_per_time_spent = 50;
  TRY(const QueueTable::Tally found, table_.tally(name_));
  std::int64_t sum = 0;
  bool is_plausible = !found.is_spoilt;
  for (const std::int64_t count : found.counts) {
    is_plausible = is_plausible && count >= 0 && static_cast<std::uint64_t>(count) < most;
    if (is_plausible) sum += count;
  }
  if (is_plausible && static_cast<std::uint64_t>(sum) < most) return found.counts;
  const std::unique_lock counting(counting_, std::try_to_lock);
  if (!counting || clock_.monotonic() < next_recount_) return found.counts;
  const auto began = Steady::now();
  auto counted = table_.recount(name_);
  const auto spent = std::chrono::duration_cast<base::Milliseconds>(Steady::now() - began);
  next_recount_ = clock_.monotonic() + std::max<base::Milliseconds>(shortest_pause, pause_per_time_spent * spent);
  return counted;
}

store::Answer<void> LocalQueue::drop_expired() {
  const base::TimePoint now = clock_.now();
  const int limit = static_cast<int>(QueueTable::moves_at_once(1));
  for (int round = 0; round < most_rounds; ++round) {
    TRY(std::vector<StoredMessage> front, table_.read(Shelf::ready, name_, position_from({}), "", limit));
    std::erase_if(front, [&](const StoredMessage& message) { return !is_expired(message, now); });
    if (front.empty()) return {};
    std::vector<QueueMove> moves;
    for (StoredMessage& message : front) moves.push_back({std::move(message), std::nullopt});
    if (const MoveReport report = table_.move(moves); report.trouble) return base::propagate(*report.trouble);
  }
  return {};
}

}  // namespace postino::messages
