// Are the counts of queues those of the messages that are there? Gets the items of a store that no program uses, one by
// one and in any order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "item/value.h"
#include "messages/queue_layout.h"

namespace postino::messages {

class QueueCountCheck {
 public:
  explicit QueueCountCheck(std::string table) : table_(std::move(table)) {}

  // Items of other tables are passed over.
  void add(const std::string& table, const item::Item& item);

  // One line for each count that differs.
  std::vector<std::string> differences() const;

 private:
  struct Queue {
    std::array<std::int64_t, shelf_count> there{};
    std::array<std::int64_t, shelf_count> counted{};
    std::array<bool, shelf_count> is_spoilt{};  // something else stands in the place of a count
  };

  void add_slice(const std::string& queue, const item::Item& slice);

  const std::string table_;
  std::map<std::string, Queue> queues_;
};

}  // namespace postino::messages
