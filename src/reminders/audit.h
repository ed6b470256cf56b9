// What people and programs have decided, for those who have to find out later. Events are added in the commit of what
// they tell of, and nothing changes or removes them: the table is closed to writes from outside (docs/reminders.md).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reminders/actor.h"
#include "reminders/page.h"
#include "reminders/refusal.h"

namespace postino::reminders {

class ReminderStore;

struct AuditEvent {
  std::string id;
  base::TimePoint at;
  std::string actor;
  std::string key;      // the API key
  std::string from;     // the address
  std::string action;   // "draft.approved"
  std::string subject;  // "drafts/20250921_143022_cust_001": no names, no addresses of people
  std::map<std::string, std::string> details;
};

struct AuditRequest {
  std::string date;     // of a day, "2026-11-15"; empty: today
  std::string subject;  // begins with this; empty: all
  PageRequest page;
};

class Audit {
 public:
  explicit Audit(ReminderStore& store) : store_(store) {}
  OrRefusal<Page<AuditEvent>> list(const AuditRequest& request, const std::string& tenant);  // newest first

 private:
  ReminderStore& store_;
};

}  // namespace postino::reminders
