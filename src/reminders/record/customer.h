// A customer, and what is known of whether reminders may go there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace postino::reminders {

// Why a customer of whom only remains are left gets no reminders.
inline constexpr std::string_view erased_reason = "the customer's data was erased";

struct Customer {
  std::string id;     // is_record_id()
  std::string name;   // may have markup and braces: they mean nothing in texts
  std::string email;  // one address
  bool opted_out = false;
  std::optional<base::TimePoint> opted_out_at;
  std::string opted_out_reason;
  std::int64_t hard_bounces = 0;
  std::int64_t complaints = 0;
  std::string last_bounce;     // the words of the last one
  std::string last_complaint;  // the same
  std::int64_t reminders_sent = 0;
  std::int64_t late_payments = 0;  // invoices that were paid more than 7 days late
  std::int64_t version = 0;        // one more with each change; 0: it is not stored
  base::TimePoint created_at;
  base::TimePoint updated_at;

  friend bool operator==(const Customer&, const Customer&) = default;
};

inline constexpr std::size_t longest_record_id = 128;
inline constexpr std::size_t longest_customer_name = 200;  // in bytes
inline constexpr std::size_t longest_reason = 500;         // in bytes

inline constexpr std::int64_t late_payer_from = 3;
inline constexpr base::Milliseconds late_after = std::chrono::hours(24 * 7);
inline bool is_late_payer(const Customer& customer) { return customer.late_payments >= late_payer_from; }

// The ids of customers and invoices are parts of keys and paths: 1 to 128 letters of ASCII, digits and - _ . @ +
bool is_record_id(std::string_view id);
inline constexpr std::string_view record_id_rule = "must be 1 to 128 letters, digits and - _ . @ +";

// Other programs may know customers by ids with further characters. They get reminders only if they can be stopped,
// exported and erased: '/' separates names in paths and in the audit.
bool may_be_customer(std::string_view id);
inline constexpr std::string_view customer_id_rule = "must be 1 to 128 bytes of UTF-8 without / and control characters";

// Fail with the rule that is broken.
base::Result<void> check_customer_name(std::string_view name);
base::Result<void> check_customer_email(std::string_view email);

// Why reminders stop for this customer; empty when they do not.
std::string why_stopped(const Customer& customer);

}  // namespace postino::reminders
