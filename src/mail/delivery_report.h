// Delivery status notifications (RFC 3464): what a mail system says about a message it had taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::mail {

struct ReportedRecipient {
  std::string address;     // the one the message was sent to: Original-Recipient, or Final-Recipient
  std::string action;      // failed, delayed, delivered, relayed, expanded
  std::string status;      // "5.1.1"
  std::string diagnostic;  // the remote server's words, or what there is instead
};

struct DeliveryReport {
  std::string message_id;   // of the message it is about, without angle brackets; empty when the report does not say
  std::string envelope_id;  // Original-Envelope-Id; may be empty
  std::vector<ReportedRecipient> recipients;
};

// invalid, with the rule, when it is not such a report.
base::Result<DeliveryReport> parse_delivery_report(std::string_view message);

}  // namespace postino::mail
