// The table of reminders on a store of a test's own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

inline constexpr base::TimePoint test_start = engine::embedded_start;  // 2026-01-02T03:04:05Z

class RemindersStore : public engine::EmbeddedStore {
 public:
  explicit RemindersStore(ReminderTables tables = {}, Rules rules = Rules::usual())
      : RemindersStore(std::make_shared<base::ManualClock>(test_start), std::move(tables), std::move(rules)) {}

  base::ManualClock& time() { return *time_; }
  ReminderStore& records() { return *records_; }
  // What another process would have.
  std::unique_ptr<ReminderStore> make_records(ReminderTables tables = {}, Rules rules = Rules::usual());

  // As another program writes it. The test fails when it cannot.
  void put(item::Item item);
  void remove(const std::string& pk, const std::string& sk);
  std::optional<item::Item> get(const std::string& pk, const std::string& sk);
  // All sort keys of a partition.
  std::vector<std::string> sort_keys(const std::string& pk);

 private:
  RemindersStore(const std::shared_ptr<base::ManualClock>& time, ReminderTables tables, Rules rules);

  const std::shared_ptr<base::ManualClock> time_;
  const ReminderTables tables_;
  std::unique_ptr<ReminderStore> records_;
};

// Expects success, and tells the refusal otherwise.
template <class T>
::testing::AssertionResult succeeded(const OrRefusal<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << answer.error().message;
}

// The message of a refusal; "" when there was none.
template <class T>
std::string refusal_text(const OrRefusal<T>& answer) {
  return answer ? "" : answer.error().message;
}

// A sent reminder as the seed has it.
item::Item seed_sent(const std::string& customer, base::TimePoint at, const std::string& type);
// A draft as the seed has it.
item::Item seed_draft(const std::string& customer, base::TimePoint at, const std::string& type);

}  // namespace postino::reminders
