// Do the parts of a store agree with each other? Uses nothing but the Store interface, and works out on its own what
// an index must hold and what a stream leads to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace postino::engine {

// One line each; none when everything agrees.
using Faults = std::vector<std::string>;

// Every item of a table, or every entry of one of its indexes, over all pages.
std::vector<item::Item> scan_everything(store::Store& store, const std::string& table_name,
                                        const std::optional<std::string>& index_name = std::nullopt);

// Compares each index with the table's items, both ways, and the described counts and sizes with what is there.
// Indexes that are still being filled are left out.
Faults check_table(store::Store& store, const std::string& table_name);

// Replays a table's stream, which must have both images, and compares where it leads with the table's items. Keeps its
// place, so the stream may be trimmed behind it.
class StreamReplay {
 public:
  explicit StreamReplay(std::string table_name) : table_name_(std::move(table_name)) {}

  // Reads what came since the last call; all of it with increasing numbers, each record fitting the one before.
  Faults follow(store::Store& store);

  // What the last call of follow() read.
  const std::vector<store::StreamRecord>& fresh() const { return fresh_; }

 private:
  void read(store::Store& store, const std::string& arn, Faults& faults);
  void apply(const store::StreamRecord& record, Faults& faults);

  const std::string table_name_;
  store::SequenceNumber last_;
  std::vector<store::StreamRecord> fresh_;
  std::map<std::string, item::Item> images_;  // by key, as JSON
};

}  // namespace postino::engine
