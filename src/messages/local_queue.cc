#include "messages/local_queue.h"

#include <algorithm>

namespace postino::messages {

namespace {

using Steady = std::chrono::steady_clock;

constexpr base::Milliseconds look_every{100};  // for what is due: more often only costs time
constexpr int most_rounds = 50;                // of returning or dropping, at a time
constexpr std::uint32_t numbers = 1'000'000;   // of positions in a millisecond

bool is_expired(const StoredMessage& message, base::TimePoint now) {
  return message.expires_at && *message.expires_at <= now;
}

StoredMessage on_ready_shelf(StoredMessage message) {
  if (message.shelf == Shelf::held) message.position = std::move(message.ready_position);
  message.shelf = Shelf::ready;
  message.ready_position.clear();
  message.owner.clear();
  return message;
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
        table_.read(shelf, name_, position_at(start), until, static_cast<int>(QueueTable::moves_at_once(2))));
    if (due.empty()) {
      cursor.found(start, now, began, Steady::now());
      return {};
    }
    std::vector<QueueMove> moves;
    for (StoredMessage& message : due) {
      std::optional<StoredMessage> to;
      if (!is_expired(message, now)) to = on_ready_shelf(message);
      moves.push_back({std::move(message), std::move(to)});
    }
    const MoveReport report = table_.move(moves);
    ready_.sweep_next();
    if (report.trouble) {
      cursor.sweep_next();
      return base::propagate(*report.trouble);
    }
    cursor.found(start, time_of(moves.back().from->position), began, Steady::now());
  }
  looked_ = {};  // there may be more
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
  return return_due(Shelf::held, held_, now);
}

// False when there is no more.
store::Answer<bool> LocalQueue::take_some(const Demand& demand, std::size_t& bytes, std::vector<StoredMessage>& taken) {
  const auto began = Steady::now();
  const base::TimePoint start = ready_.start(began);
  const base::TimePoint now = clock_.now();
  const std::size_t wanted = std::min(demand.messages - taken.size(), QueueTable::moves_at_once(2));
  TRY(std::vector<StoredMessage> found,
      table_.read(Shelf::ready, name_, position_at(start), "", static_cast<int>(wanted)));
  if (found.empty()) {
    ready_.found(start, now, began, Steady::now());
    return false;
  }
  std::vector<QueueMove> moves;
  for (StoredMessage& message : found) {
    if (bytes >= demand.bytes) break;
    std::optional<StoredMessage> to;
    if (!is_expired(message, now)) {
      bytes += message.content.size();
      to = leased(message, demand, now);
    }
    moves.push_back({std::move(message), std::move(to)});
  }
  const MoveReport report = table_.move(moves);
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (report.done[i] && moves[i].to) taken.push_back(std::move(*moves[i].to));
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

store::Answer<void> LocalQueue::drop_expired() {
  const base::TimePoint now = clock_.now();
  const int limit = static_cast<int>(QueueTable::moves_at_once(1));
  for (int round = 0; round < most_rounds; ++round) {
    TRY(std::vector<StoredMessage> front, table_.read(Shelf::ready, name_, position_at({}), "", limit));
    std::erase_if(front, [&](const StoredMessage& message) { return !is_expired(message, now); });
    if (front.empty()) return {};
    std::vector<QueueMove> moves;
    for (StoredMessage& message : front) moves.push_back({std::move(message), std::nullopt});
    if (const MoveReport report = table_.move(moves); report.trouble) return base::propagate(*report.trouble);
  }
  return {};
}

}  // namespace postino::messages
