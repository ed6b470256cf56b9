// A customer, and what is known of whether reminders may go there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace postino::reminders {

struct Customer {
  std::string id;  // 1 to 128 letters, digits and -_.@+ : it is part of keys and paths
  std::string name;
  std::string email;  // one address
  bool opted_out = false;
  std::optional<base::TimePoint> opted_out_at;
  std::int64_t hard_bounces = 0;
  std::int64_t complaints = 0;
  std::string last_bounce;  // the words of the last one
  std::int64_t reminders_sent = 0;
  std::int64_t late_payments = 0;  // invoices that were paid more than 7 days late
  std::int64_t version = 0;        // one more with each change; 0: it is not stored
  base::TimePoint created_at;
  base::TimePoint updated_at;
};

inline constexpr std::int64_t late_payer_from = 3;
inline constexpr base::Milliseconds late_after = std::chrono::hours(24 * 7);
inline bool is_late_payer(const Customer& customer) { return customer.late_payments >= late_payer_from; }

// Why reminders stop for this customer; empty when they do not.
std::string why_stopped(const Customer& customer);

}  // namespace postino::reminders
