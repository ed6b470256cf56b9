#include "reminders/record/customer.h"

#include <algorithm>

#include "base/text.h"
#include "json/string.h"
#include "mail/address_syntax.h"
#include "mail/text_rules.h"

namespace postino::reminders {

namespace {

bool is_lost_in_paths(std::string_view id) { return id == "." || id == ".."; }

bool fits_record_id(char letter) {
  const char lower = base::lower(letter);
  return (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') ||
         std::string_view("-_.@+").find(letter) != std::string_view::npos;
}

}  // namespace

bool is_record_id(std::string_view id) {
  if (is_lost_in_paths(id)) return false;
  return !id.empty() && id.size() <= longest_record_id && std::ranges::all_of(id, fits_record_id);
}

bool may_be_customer(std::string_view id) {
  if (is_lost_in_paths(id)) return false;
  return !id.empty() && id.size() <= longest_record_id && id.find('/') == std::string_view::npos && json::is_utf8(id) &&
         !base::has_control_character(id);
}

base::Result<void> check_customer_name(std::string_view name) {
  if (mail::folded(name).empty()) return base::invalid("must not be empty");
  if (name.size() > longest_customer_name)
    return base::invalid("must not be longer than " + std::to_string(longest_customer_name) + " bytes");
  if (!json::is_utf8(name)) return base::invalid("must be UTF-8");
  if (base::has_control_character(name)) return base::invalid("must not have line breaks or other control characters");
  return {};
}

base::Result<void> check_customer_email(std::string_view email) { return mail::check_address(email); }

std::string why_stopped(const Customer& customer) {
  if (customer.opted_out) return "the customer has opted out of reminders";
  if (customer.complaints > 0) return "the customer has complained about reminders";
  if (customer.hard_bounces > 0) return "e-mails to the customer's address bounce";
  return "";
}

}  // namespace postino::reminders
