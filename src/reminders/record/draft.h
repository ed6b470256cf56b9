// A draft of a reminder: texts that a person has to approve.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "reminders/text/money.h"
#include "reminders/text/template_text.h"

namespace postino::reminders {

inline constexpr base::Milliseconds draft_life = std::chrono::hours(24 * 30);
inline constexpr int most_revisions = 100;

// The seed knows "draft". The others follow from what people do. `expired` is never stored: it follows from the time.
enum class DraftStatus { draft, approved, rejected, withdrawn, expired };

struct DraftText {
  std::string subject;
  std::string body;  // plain text
  std::string html;  // empty: none
  friend bool operator==(const DraftText&, const DraftText&) = default;
};

struct Draft {
  std::string id;  // "20250921_143022_cust_001": the key without its DRAFT#
  std::string customer_id;
  std::string customer_name;
  std::string customer_email;
  std::string reminder_type;
  DraftText text;
  int revision = 1;
  std::string template_id;   // empty: given text
  int template_version = 0;  // the one that it was made from; it stays whatever is activated later
  std::string branding;
  Variables variables;                  // that the drafter gave
  std::optional<Money> overdue_amount;  // as it was then
  std::vector<std::string> overdue_invoices;
  DraftStatus status = DraftStatus::draft;
  std::string reason;  // why it was rejected or withdrawn
  std::string created_by;
  std::string created_key;  // the API key
  std::string revised_by;   // who made the current revision
  std::string decided_by;
  std::optional<base::TimePoint> decided_at;
  std::string sent_record;  // of an approved one: the id of its sent reminder
  base::TimePoint created_at;
  base::TimePoint updated_at;
  std::int64_t version = 0;  // of the record; 0: another program wrote it
};

struct Revision {
  std::string draft_id;
  int number = 1;
  DraftText text;
  std::string author;
  base::TimePoint at;
};

}  // namespace postino::reminders
