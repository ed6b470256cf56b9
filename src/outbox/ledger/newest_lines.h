// The newest lines of a history that is read piece by piece, in any order: as many as may be in memory.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

class NewestLines {
 public:
  // A bounce has the version of the state it came in.
  void add(HistoryEntry line) {
    bytes_ += size_of(line);
    const Place place(line.version, line.at);
    lines_.emplace(place, std::move(line));
    while (lines_.size() > most_history_lines || (bytes_ > most_history_bytes && lines_.size() > 1)) {
      bytes_ -= size_of(lines_.begin()->second);
      lines_.erase(lines_.begin());
    }
  }

  // Oldest first.
  std::vector<HistoryEntry> take() && {
    std::vector<HistoryEntry> taken;
    taken.reserve(lines_.size());
    for (auto& [place, line] : lines_) taken.push_back(std::move(line));
    return taken;
  }

 private:
  using Place = std::pair<std::int64_t, base::TimePoint>;

  static std::size_t size_of(const HistoryEntry& line) {
    return sizeof(HistoryEntry) + line.status.size() + line.reason.size();
  }

  std::multimap<Place, HistoryEntry> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace postino::outbox
