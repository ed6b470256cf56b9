// A template of reminders: numbered versions, of which one is active.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace postino::reminders {

enum class TemplateStatus { active, inactive };

struct TemplateVersion {
  std::string template_id;            // "reminder_first"
  int version = 0;                    // from 1; 0 of an override
  std::string name;                   // "First Reminder Template"
  std::string type;                   // template_type: "first_reminder", or the type of reminder itself; empty: any
  std::string subject;                // texts with {{placeholders}}
  std::string body;                   // plain text
  std::string html;                   // empty: none
  std::vector<std::string> required;  // variables that a draft must give, beside those that Postino knows
  std::string branding;               // the name of one; empty: none
  TemplateStatus status = TemplateStatus::inactive;
  std::string customer_id;  // of an override for one customer; empty: for all
  std::string created_by;
  base::TimePoint created_at;
};

// What all mails of a company share.
struct Branding {
  std::string name;  // "innovate_ai"
  std::string from;  // the address, perhaps with a name; empty: the configured one
  std::string reply_to;
  std::string company;      // {{company_name}}
  std::string text_footer;  // below each plain text; placeholders as in templates
  std::string html_header;  // around each HTML body
  std::string html_footer;
  base::TimePoint updated_at;
};

}  // namespace postino::reminders
