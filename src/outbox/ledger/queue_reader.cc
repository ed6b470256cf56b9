#include "outbox/ledger/queue_reader.h"

#include <algorithm>
#include <set>
#include <utility>

namespace postino::outbox {

namespace {

// E-mails that one call reads of what was passed over, and of what is new.
constexpr int most_entries_read = 250;
constexpr int entries_per_page = 100;
// A commit may come later than the time that its e-mails are due since.
constexpr base::Milliseconds late_commits{100};
constexpr std::chrono::minutes longest_sweep_pause{10};
constexpr int pause_per_time_spent = 50;

// From where nothing is missed of what is behind either.
QueuePosition earlier(const QueuePosition& a, const QueuePosition& b) {
  if (a.due != b.due) return a.due < b.due ? a : b;
  return a.id == b.id ? a : QueuePosition{a.due, ""};
}

bool is_surely_behind(const QueuePosition& position, const QueuePosition& other) {
  return position.due > other.due || (position.due == other.due && position.id == other.id);
}

}  // namespace

base::TimePoint QueueReader::first_left() const {
  base::TimePoint first = read_to_.due;
  for (const auto& [obstacle, position] : passed_) first = std::min(first, position.due);
  return first;
}

base::Result<QueueReader::End> QueueReader::read(QueuePosition from, Reading& reading,
                                                 const std::function<bool()>& is_over) {
  int left = most_entries_read;
  bool is_first_page = true;
  std::set<std::string> met;  // obstacles: those of them that come later are behind
  while (left > 0 && !reading.is_full() && !is_over()) {
    const int few = reading.wanted - static_cast<int>(reading.emails.size()) + 1;
    const int limit = std::min(left, is_first_page ? few : entries_per_page);
    is_first_page = false;
    TRY(QueuePage page, reading.read_page(from, limit));
    for (QueueEntry& entry : page.entries) {
      if (reading.is_full()) return End{from, false};
      --left;
      if (reading.has(entry.at.id)) entry.email.reset();
      const auto obstacle =
          entry.email && reading.choice.obstacle ? reading.choice.obstacle(*entry.email) : std::nullopt;
      if (obstacle) {
        const auto [passed, is_new] = passed_.try_emplace(*obstacle, from);
        if (met.insert(*obstacle).second && !is_new) passed->second = earlier(passed->second, from);
      } else if (entry.email) {
        reading.emails.push_back(*std::move(entry.email));
      }
      from = std::move(entry.at);
    }
    if (page.is_last) return End{from, true};
  }
  return End{from, false};
}

// What can be used again. True when there may be more of it.
base::Result<bool> QueueReader::read_passed(Reading& reading) {
  std::vector<std::string> gone;
  QueuePosition from;
  for (const auto& [obstacle, position] : passed_) {
    if (!reading.choice.is_gone(obstacle)) continue;
    from = gone.empty() ? position : earlier(from, position);
    gone.push_back(obstacle);
  }
  if (gone.empty()) return false;
  for (const std::string& obstacle : gone) passed_.erase(obstacle);
  // They are in the way again when enough was taken.
  const auto is_over = [&] {
    return std::ranges::all_of(gone, [&](const std::string& obstacle) { return passed_.contains(obstacle); });
  };
  const auto end = read(from, reading, is_over);
  if (end && (end->is_last || is_surely_behind(end->at, read_to_)))
    return false;  // what is behind it will be read as new
  for (const std::string& obstacle : gone) passed_.try_emplace(obstacle, end ? end->at : from);
  if (!end) return base::propagate(end.error());
  return true;
}

base::Result<bool> QueueReader::read_new(Reading& reading, base::TimePoint now) {
  const auto began = Steady::now();
  if (!is_sweeping_ && began >= next_sweep_) {
    is_sweeping_ = true;
    sweep_took_ = {};
    read_to_ = {};
  }
  const QueuePosition recent{now - late_commits, ""};
  TRY(const End end, read(is_at_end_ ? earlier(read_to_, recent) : read_to_, reading, [] { return false; }));
  read_to_ = end.at;
  is_at_end_ = end.is_last;
  const auto ended = Steady::now();
  if (is_sweeping_) sweep_took_ += ended - began;
  if (end.is_last && is_sweeping_) {
    is_sweeping_ = false;
    const auto in_proportion = std::min<Steady::duration>(sweep_took_ * pause_per_time_spent, longest_sweep_pause);
    next_sweep_ = ended + std::max<Steady::duration>(in_proportion, shortest_pause_);
  }
  return !end.is_last;
}

base::Result<QueueReader::Chosen> QueueReader::choose(int wanted, const Choice& choice, const ReadPage& read_page,
                                                      base::TimePoint now) {
  Reading reading{wanted, choice, read_page, {}};
  Chosen chosen;
  const bool new_ones_first = std::exchange(new_ones_first_, false);
  for (const bool new_ones : {new_ones_first, !new_ones_first}) {
    if (reading.is_full()) {
      chosen.more = true;
      new_ones_first_ = new_ones;
      break;
    }
    const auto more = new_ones ? read_new(reading, now) : read_passed(reading);
    if (!more && reading.emails.empty()) return base::propagate(more.error());
    if (!more) break;
    chosen.more |= *more;
  }
  chosen.emails = std::move(reading.emails);
  return chosen;
}

}  // namespace postino::outbox
