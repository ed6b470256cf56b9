// What happened on a day, from counters that every commit keeps. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reminders/refusal.h"

namespace postino::reminders {

class ReminderStore;

struct DaySummary {
  std::string date;
  std::map<std::string, std::int64_t>
      counts;  // drafts_created, approved, rejected, withdrawn, sent, failed, bounced, paid ...
  std::map<std::string, std::int64_t> sent_by_type;
};

class Summary {
 public:
  explicit Summary(ReminderStore& store) : store_(store) {}
  // "2026-11-15"; empty: today, in UTC.
  OrRefusal<DaySummary> of_day(const std::string& date, const std::string& tenant);

 private:
  ReminderStore& store_;
};

}  // namespace postino::reminders
