// A reminder that was approved, and what has become of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "reminders/record/draft.h"

namespace postino::reminders {

inline constexpr base::Milliseconds sent_life = std::chrono::hours(24 * 365);

// Of the e-mails of all reminders.
inline constexpr std::string_view reminder_tag = "reminder";
// Further tags of them begin with this, and are the customer's id together: a tag may be shorter than an id.
inline constexpr std::string_view customer_tag_begin = "customer:";

// delivery_status. `sent`: the mail server has taken it, which is all that can be known until a bounce comes.
// `unknown`: it is not tried any more, and an attempt at it may have succeeded.
enum class DeliveryStatus { queued, sent, failed, bounced, cancelled, unknown };
std::string_view name_of(DeliveryStatus status);

struct SentReminder {
  std::string id;  // "20250921_150000_first": the key without its SENT#; unique within a customer
  std::string customer_id;
  std::string customer_name;
  std::string customer_email;
  std::string reminder_type;
  DraftText text;
  base::TimePoint sent_at;  // sent_date: when it was approved
  std::string approved_by;
  std::string email_id;    // in the outbox; empty: another program sent it
  std::string message_id;  // the Message-ID, also as ses_message_id
  DeliveryStatus delivery = DeliveryStatus::queued;
  std::string delivery_word;  // delivery_status as another program wrote it; empty: it is one of ours
  std::string failure;        // why, when it failed, bounced or was cancelled
  std::optional<base::TimePoint> delivered_at;
  std::string draft_id;
  int revision = 0;
  std::string template_id;
  int template_version = 0;
  std::optional<Money> overdue_amount;
  std::vector<std::string> overdue_totals;  // as those of the draft
  std::vector<std::string> overdue_invoices;
  std::int64_t version = 0;
  std::optional<base::TimePoint> erased_at;  // then texts, name and address were removed, and none may come back

  // By which it is found again.
  std::string place() const { return id + "/" + customer_id; }
  // Does it count for the rules? Not when the customer did not get it, as far as is known.
  bool counts() const {
    using enum DeliveryStatus;
    return delivery == queued || delivery == sent || delivery == unknown;
  }
};

}  // namespace postino::reminders
