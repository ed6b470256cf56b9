#include "metrics/figures/ticket_figures.h"

#include <algorithm>
#include <array>

#include "item/attribute_text.h"
#include "item/plain_json.h"

namespace postino::metrics {

namespace {

constexpr std::array<std::string_view, 5> ticket_statuses = {"NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"};
constexpr std::string_view metadata_sort = "METADATA", feedback_begin = "FEEDBACK#", event_begin = "EVENT#";
constexpr std::string_view ticket_begin = "TICKET#";

// Programs of others may write anything: what is no status of ours has one name, so that there is no end of figures.
std::string known_status(const std::string& status) {
  return std::ranges::find(ticket_statuses, status) != ticket_statuses.end() ? status : "OTHER";
}

bool is_of_a_ticket(const item::Key& key) {
  const std::string sort = item::attribute_text(key, "SK");
  if (sort != metadata_sort && !sort.starts_with(feedback_begin) && !sort.starts_with(event_begin)) return false;
  return owner_of(item::attribute_text(key, "PK")).rest.starts_with(ticket_begin);
}

// The ticket's own attribute, or the one in its data: as the support desk reads it.
std::string status_of(const item::Item& ticket) {
  if (ticket.contains("status")) return item::attribute_text(ticket, "status");
  const item::AttributeValue* const data = ticket.find("data");
  const auto map = data != nullptr ? item::map_or_json(*data) : std::nullopt;
  return map ? item::attribute_text(*map, "status") : std::string();
}

base::Result<void> count_ticket(const item::Item& ticket, Contribution& counted) {
  const std::string status = status_of(ticket);
  if (status.empty()) return base::invalid("status of a ticket must be a text");
  const std::string name = known_status(status);
  counted.figures.emplace_back("tickets_by_status#" + name, Amount{.count = 1});
  const auto created = moment_in(ticket, "created_at");
  if (created) counted.events.push_back({.name = "tickets_created", .at = *created});
  const auto completed = moment_in(ticket, "completed_at");
  if (name != "READY" || !created || !completed) return {};
  // Clocks differ: nothing is done before it has begun. And a year like 9999 is no reason for sums to overflow.
  constexpr base::Milliseconds longest = std::chrono::years(10);
  const base::Milliseconds time = std::clamp(*completed - *created, base::Milliseconds(0), longest);
  const Amount taken{.count = 1, .thousandths = time.count()};
  counted.figures.emplace_back("avg_resolution_time", taken);
  counted.events.push_back({.name = "tickets_resolved", .at = *completed, .amount = taken});
  return {};
}

base::Result<void> count_feedback(const item::Item& feedback, Contribution& counted) {
  const item::AttributeValue* const value = feedback.find("rating");
  const auto* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  const auto rating = number != nullptr ? number->to_int64() : std::nullopt;
  if (!rating || item::Number(*rating) != *number || *rating < 1 || *rating > 5)
    return base::invalid("rating of feedback must be a whole number from 1 to 5");
  const Amount amount{.count = 1, .thousandths = *rating * 1'000};
  counted.figures.emplace_back("customer_satisfaction", amount);
  if (const auto at = moment_in(feedback, "submitted_at"))
    counted.events.push_back({.name = "feedback", .at = *at, .amount = amount});
  return {};
}

// Events are for the history alone. What they tell of is in the ticket, so that one that cannot be read damages
// nothing.
void count_event(const item::Item& event, Contribution& counted) {
  // It says which status a ticket began with; that is no move, and the ticket itself is counted as created.
  if (item::attribute_text(event, "event_type") == "ticket_created") return;
  std::string status = item::attribute_text(event, "new_status");
  const item::AttributeValue* const details = event.find("details");
  if (const auto* const map = details != nullptr ? details->get_if<item::Map>() : nullptr; map && status.empty())
    status = item::attribute_text(*map, "new_status");
  const auto at = moment_in(event, "timestamp");
  if (!status.empty() && at) counted.events.push_back({.name = "tickets_moved#" + known_status(status), .at = *at});
}

base::Result<Contribution> count_item(const item::Item& item) {
  Contribution counted;
  counted.tenant = owner_of(item::attribute_text(item, "PK")).tenant;
  const std::string sort = item::attribute_text(item, "SK");
  if (sort == metadata_sort)
    TRY_VOID(count_ticket(item, counted));
  else if (sort.starts_with(feedback_begin))
    TRY_VOID(count_feedback(item, counted));
  else
    count_event(item, counted);
  return counted;
}

}  // namespace

Source ticket_source(std::string table) {
  Source source{.name = "tickets",
                .table = std::move(table),
                .concerns = is_of_a_ticket,
                .count = count_item,
                .kept_for = std::nullopt,
                .known_figures = {}};
  for (const std::string_view status : ticket_statuses)
    source.known_figures.push_back("tickets_by_status#" + std::string(status));
  for (const std::string_view name : {"tickets_by_status#OTHER", "avg_resolution_time", "customer_satisfaction"})
    source.known_figures.emplace_back(name);
  return source;
}

}  // namespace postino::metrics
