// What can be configured about payment reminders.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reminders/refusal.h"

namespace postino::app {

struct ReminderSettings {
  bool off = false;
  std::string table = "EmailTrackingTable";
  int shards = 1;
  std::vector<reminders::Rule> rules = reminders::Rules::usual().all();
  bool other_person = false;     // who drafts a reminder does not approve it
  std::string currency = "USD";  // of amounts that other programs wrote without one
  std::string from;              // the sender, where a branding has none
};

// Rules that the value alone does not show, or that concern several settings.
base::Result<void> check(const ReminderSettings& settings);

}  // namespace postino::app
