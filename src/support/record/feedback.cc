#include "support/record/feedback.h"

#include <algorithm>
#include <array>

#include "item/attribute_text.h"
#include "item/fields.h"
#include "item/plain_json.h"
#include "objects/large_attributes.h"
#include "support/record/ticket.h"
#include "support/record/ticket_item.h"

namespace postino::support {

namespace {

using item::attribute_text;

constexpr std::size_t millisecond_length = 23;  // "2026-01-02T03:04:05.123"
constexpr int most_in_millisecond = 1'000;

std::optional<bool> flag_in(const item::Map& map, std::string_view name) {
  const item::AttributeValue* const value = map.find(name);
  const bool* const flag = value != nullptr ? value->get_if<bool>() : nullptr;
  return flag != nullptr ? std::optional(*flag) : std::nullopt;
}

item::Map feedback_data(const item::Item& item) {
  const item::AttributeValue* const value = item.find("data");
  return value != nullptr ? item::map_or_json(*value).value_or(item::Map()) : item::Map();
}

std::string time_in_sort(const std::string& sort) {
  return sort.starts_with(feedback_begin) ? sort.substr(feedback_begin.size()) : "";
}

// By which lists find it: that of its operator, and the customer's own one.
constexpr std::array<std::string_view, 5> feedback_keys = {"customer_id", "GSI1PK", "GSI1SK", "GSI3PK", "GSI3SK"};

}  // namespace

std::string feedback_time_begin(base::TimePoint time) { return write_time(time).substr(0, millisecond_length); }

std::optional<std::string> next_feedback_time(base::TimePoint time, const std::string& last) {
  const std::string begin = feedback_time_begin(time);
  if (!last.starts_with(begin)) return write_time(time);
  const std::string digits = last.substr(begin.size(), 3);
  const bool is_number = digits.size() == 3 && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  const int next = is_number ? std::stoi(digits) + 1 : 1;
  if (next >= most_in_millisecond) return std::nullopt;
  return begin + event_number(next) + "Z";
}

item::Item feedback_item(const Keys& keys, const Feedback& feedback) {
  item::Item item = Keys::key(keys.ticket(feedback.ticket_id), std::string(feedback_begin) + feedback.submitted_text);
  item.set("entity_type", "feedback");
  item.set("ticket_id", feedback.ticket_id);
  item.set("operator_id", feedback.operator_id);
  item.set("submitted_at", feedback.submitted_text);
  item.set("rating", feedback.rating);
  item.set("GSI3PK", keys.operated_by(feedback.operator_id));
  item.set("GSI3SK", feedback.submitted_text);
  item::Map data = feedback.data;
  data.set("operator_id", feedback.operator_id);
  data.set("rating", feedback.rating);
  data.set("submitted_at", feedback.submitted_text);
  if (!feedback.comments.empty()) data.set("comments", feedback.comments);
  if (feedback.was_helpful) {
    item.set("was_helpful", *feedback.was_helpful);
    data.set("was_helpful", *feedback.was_helpful);
  }
  if (feedback.resolved_issue) data.set("resolved_issue", *feedback.resolved_issue);
  item.set("data", std::move(data));
  if (auto completed = completed_feedback(keys, item, feedback.customer_id)) return *std::move(completed);
  return item;
}

bool has_feedback_keys(const item::Item& item) {
  return std::ranges::all_of(feedback_keys, [&item](std::string_view name) { return item.contains(name); });
}

std::optional<item::Item> completed_feedback(const Keys& keys, const item::Item& item, const std::string& customer_id) {
  const std::string operator_id =
      attribute_text(item.contains("operator_id") ? item : feedback_data(item), "operator_id");
  const std::string at =
      item.contains("submitted_at") ? attribute_text(item, "submitted_at") : time_in_sort(attribute_text(item, "SK"));
  if (operator_id.empty() || at.empty()) return std::nullopt;
  item::Item completed = item;
  completed.set("operator_id", operator_id);
  completed.set("GSI3PK", keys.operated_by(operator_id));
  if (!item.contains("GSI3SK")) completed.set("GSI3SK", at);
  if (!customer_id.empty()) {
    completed.set("customer_id", customer_id);
    completed.set("GSI1PK", keys.feedback_of(customer_id));
    completed.set("GSI1SK", operator_id + "#" + at);
  }
  return completed == item ? std::nullopt : std::optional(std::move(completed));
}

base::Result<Feedback> read_feedback(const item::Item& item) {
  TRY_VOID(objects::check_whole(item));
  item::Fields fields(item);
  Feedback feedback;
  feedback.data = feedback_data(item);
  const auto place = parse_ticket_partition(attribute_text(item, "PK"));
  feedback.ticket_id = place ? place->ticket_id : fields.text("ticket_id");
  feedback.customer_id = fields.text("customer_id");
  feedback.operator_id = fields.text("operator_id");
  if (feedback.operator_id.empty()) feedback.operator_id = attribute_text(feedback.data, "operator_id");
  const std::int64_t rating = fields.whole("rating");
  // Others are in no figure either: metrics sets them aside.
  if (rating >= TicketLimits::least_rating && rating <= TicketLimits::most_rating)
    feedback.rating = static_cast<int>(rating);
  else
    fields.fault("rating", "a whole number from 1 to 5");
  feedback.was_helpful = flag_in(feedback.data, "was_helpful");
  feedback.resolved_issue = flag_in(feedback.data, "resolved_issue");
  feedback.comments = attribute_text(feedback.data, "comments");
  feedback.submitted_text = time_in_sort(fields.text("SK"));
  const auto at = read_time(feedback.submitted_text);
  if (at)
    feedback.submitted_at = *at;
  else
    fields.fault("SK", "FEEDBACK#{time}");
  TRY_VOID(fields.check(key_text(item)));
  return feedback;
}

}  // namespace postino::support
