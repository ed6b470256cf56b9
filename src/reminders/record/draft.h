// A draft of a reminder: texts that a person has to approve.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "reminders/text/money.h"
#include "reminders/text/template_text.h"

namespace postino::reminders {

inline constexpr base::Milliseconds draft_life = std::chrono::hours(24 * 30);
inline constexpr int most_revisions = 100;
// Texts that another program gives a draft are counted, too.
inline constexpr int largest_revision = 1'000'000'000;
// Of subject, plain text and HTML together: an item has 400 KB, and an approved draft is in several.
inline constexpr std::size_t most_text_bytes = 200 << 10;

// The seed knows "draft". The others follow from what people do. `expired` is never stored: it follows from the time.
enum class DraftStatus { draft, approved, rejected, withdrawn, expired };
std::string_view name_of(DraftStatus status);
std::optional<DraftStatus> parse_draft_status(std::string_view name);

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
  std::string text_hash;     // hash_of() this revision; another one: another program changed it
  std::string template_id;   // empty: given text
  int template_version = 0;  // the one that it was made from; it stays whatever is activated later
  std::string branding;
  std::string from;                         // of the branding then; empty: the configured address
  std::string reply_to;                     // empty: none
  Variables variables;                      // that the drafter gave
  std::optional<Money> overdue_amount;      // as it was then, in the currency of the oldest overdue invoice
  std::vector<std::string> overdue_totals;  // "1500.00 EUR", one for each currency, where there are several
  std::vector<std::string> overdue_invoices;
  DraftStatus status = DraftStatus::draft;
  std::string reason;  // why it was rejected or withdrawn
  std::string created_by;
  std::string created_key;  // the API key
  std::string revised_by;   // who made the current revision
  std::string revised_key;
  std::optional<base::TimePoint> revised_at;
  std::string decided_by;
  std::optional<base::TimePoint> decided_at;
  std::string sent_record;     // of an approved one: the id of its sent reminder
  std::string decision_token;  // a random token of the attempt that approved it: by it that attempt knows its own work
  base::TimePoint created_at;
  base::TimePoint updated_at;
  std::int64_t version = 0;  // of the record; 0: another program wrote it
};

// As it is at that time: a draft on which no approver decided expires.
inline DraftStatus status_at(const Draft& draft, base::TimePoint now) {
  return draft.status == DraftStatus::draft && now >= draft.created_at + draft_life ? DraftStatus::expired
                                                                                    : draft.status;
}

// Of all that the e-mail is made of: the same only for the same text, recipient, type and sender.
std::string hash_of(const Draft& draft);
// Drafts that were stored by earlier versions have this one.
std::string hash_of_text(const DraftText& text);
// Is the hash that of this draft, by either?
bool is_hash_of(std::string_view hash, const Draft& draft);

struct Revision {
  std::string draft_id;
  int number = 1;
  DraftText text;
  std::string author;
  base::TimePoint at;
};

}  // namespace postino::reminders
