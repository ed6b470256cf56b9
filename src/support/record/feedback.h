// What an operator says about the help that a ticket got.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "support/record/keys.h"

namespace postino::support {

struct Feedback {
  std::string ticket_id;
  std::string customer_id;  // of the ticket; empty where another program wrote it
  std::string operator_id;
  int rating = 0;  // 1 to 5
  std::optional<bool> was_helpful = {};
  std::optional<bool> resolved_issue = {};
  std::string comments = {};
  base::TimePoint submitted_at{};
  std::string submitted_text = {};  // as it is written, and its key: "2026-01-02T03:04:05.123Z"
  item::Map data = {};              // as it is stored
};

// The key of this time, or the next one where `last` is the last that is taken: the digits of its microseconds count
// up, so that it stays a time. Nothing when a thousandth of a second has a thousand of them.
std::optional<std::string> next_feedback_time(base::TimePoint time, const std::string& last);
// What the keys of this thousandth of a second begin with.
std::string feedback_time_begin(base::TimePoint time);

item::Item feedback_item(const Keys& keys, const Feedback& feedback);
base::Result<Feedback> read_feedback(const item::Item& item);
// Has it everything that lists find it by?
bool has_feedback_keys(const item::Item& item);
// Other programs know nothing of the customer's own list, and some nothing of the operator's: what the item lacks is
// added. Nothing when it lacks nothing.
std::optional<item::Item> completed_feedback(const Keys& keys, const item::Item& item, const std::string& customer_id);

}  // namespace postino::support
