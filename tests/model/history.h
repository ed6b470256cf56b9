// What happened in a run, and whether it can have happened one transaction after the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace postino::model {

// A transaction that was acknowledged: what it saw, what it wrote, and when it was under way. Versions of a key count
// from one; version zero is its absence.
struct Transaction {
  std::string id;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::map<std::string, std::int64_t> reads;
  std::map<std::string, std::int64_t> writes;
};

// Every version follows from the one before, so the versions tell who came after whom: writers of a key in the order
// of its versions, readers of a version after its writer and before the next one. Together with the order of
// transactions that did not overlap in time that must not run in a circle. What is wrong, or nothing.
std::string fault_of_history(const std::vector<Transaction>& history);

}  // namespace postino::model
