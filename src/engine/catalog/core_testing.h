// A core in a temporary directory, for tests: a clock that stands still, seeded randomness, nothing in the background.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "base/temporary_directory.h"
#include "engine/catalog/core.h"
#include "engine/memory_directory_testing.h"
#include "store/table_operations.h"

namespace postino::engine {

// Friday, 2 January 2026, 03:04:05.678 UTC.
inline constexpr base::TimePoint test_start = base::TimePoint(base::Milliseconds(1'767'323'045'678));

// For what is known to come: so long that a busy machine does not matter.
inline constexpr base::Milliseconds long_wait = std::chrono::minutes(5);
// How many of DynamoDB's messages begin.
inline const std::string invalid_values = "One or more parameter values were invalid: ";

class CoreTest : public ::testing::Test {
 protected:
  CoreTest();

  Core& core() { return *core_; }
  base::ManualClock& clock() { return *clock_; }
  // Closes the core and opens it again from what is on disk.
  void reopen();

  // Puts {"pk": key} under the table's hash key, which must be a string called pk; indexes and streams are left alone.
  void put_plain_item(const std::string& table_name, const std::string& key);

 private:
  base::TemporaryDirectory directory_{memory_directory()};
  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  std::unique_ptr<Core> core_;
};

// A table with the string hash key pk, billed per request.
store::CreateTableRequest simple_table(std::string name);
// A request for a global index over string attributes, projecting everything.
store::GlobalIndexDefinition simple_index(std::string name, std::string hash_key);

}  // namespace postino::engine
