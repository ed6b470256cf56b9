// What a look at a store finds: how much there is, each item, and faults.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "item/value.h"

namespace postino::engine {

struct StoreCounts {
  std::uint64_t tables = 0;
  std::uint64_t items = 0;
  std::uint64_t index_entries = 0;
  std::uint64_t expiry_entries = 0;
  std::uint64_t stream_records = 0;
  std::uint64_t undo_records = 0;
  std::uint64_t backups = 0;
  std::uint64_t backup_items = 0;
};

// Gets every item that can be read, with the name of its table: for services that check what they keep in items.
using EachItem = std::function<void(const std::string& table, const item::Item& item)>;

// "1 item", "2 items".
inline std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// One line for each fault: the first ones are kept, and all are counted.
class Findings {
 public:
  void add(std::string line) {
    if (lines_.size() < most_lines) lines_.push_back(std::move(line));
    ++count_;
  }
  const std::vector<std::string>& lines() const { return lines_; }
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::size_t most_lines = 1'000;

  std::vector<std::string> lines_;
  std::uint64_t count_ = 0;
};

}  // namespace postino::engine
