#include "support/feedback_records.h"

#include <map>

#include "base/log.h"
#include "item/attribute_text.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr int most_with_bound = 50;  // feedbacks of a ticket to which callers that are bound to a customer add

}  // namespace

OrRefusal<std::string> FeedbackRecords::last_in_millisecond(const Keys& keys, const std::string& ticket_id,
                                                            base::TimePoint time) {
  // "...123Z" is behind "...123999Z", and is always the first one that is taken.
  const std::string begin = std::string(feedback_begin) + feedback_time_begin(time);
  store::QueryRequest request;
  request.table_name = store_.tables().tickets;
  request.key_condition = "PK = :pk AND SK BETWEEN :from AND :to";
  request.projection = "SK";
  request.placeholders.values =
      item::Map{{":from", begin + "0"}, {":pk", keys.ticket(ticket_id)}, {":to", begin + "999Z"}};
  request.consistent_read = true;
  request.forward = false;
  request.limit = 1;
  TRY(const store::PageResponse page, store_.query(request));
  if (page.items.empty()) return feedback_time_begin(time) + "Z";
  return item::attribute_text(page.items.front(), "SK").substr(feedback_begin.size());
}

OrRefusal<void> FeedbackRecords::check_bound(const Keys& keys, const std::string& ticket_id,
                                             const std::string& operator_id) {
  store::QueryRequest request;
  request.table_name = store_.tables().tickets;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.projection = "SK, operator_id";
  request.placeholders.values = item::Map{{":begin", std::string(feedback_begin)}, {":pk", keys.ticket(ticket_id)}};
  request.consistent_read = true;
  int count = 0;
  do {
    request.limit = most_with_bound - count;
    TRY(store::PageResponse page, store_.query(request));
    for (const item::Item& item : page.items)
      if (item::attribute_text(item, "operator_id") == operator_id)
        return refuse_field("operator_id", "must be one that the ticket has no feedback of yet");
    count += static_cast<int>(page.items.size());
    if (count >= most_with_bound)
      return refuse_field("operator_id", "must not be given for a ticket that has " + std::to_string(most_with_bound) +
                                             " feedbacks already");
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key);
  return {};
}

OrRefusal<Feedback> FeedbackRecords::add(const std::string& ticket_id, const NewFeedback& given, const Actor& actor) {
  FieldRules rules;
  rules.name("operator_id", given.operator_id, TicketLimits::id_bytes);
  rules.whole("rating", given.rating, TicketLimits::least_rating, TicketLimits::most_rating);
  rules.text("comments", given.comments, 0, TicketLimits::comments);
  TRY_VOID(rules.outcome());
  const Keys keys = store_.keys(actor.scope);
  Feedback feedback{.ticket_id = ticket_id,
                    .customer_id = "",
                    .operator_id = given.operator_id,
                    .rating = given.rating,
                    .was_helpful = given.was_helpful,
                    .resolved_issue = given.resolved_issue,
                    .comments = given.comments,
                    .submitted_at = store_.clock().now()};
  feedback.submitted_text = write_time(feedback.submitted_at);
  const auto decide = [&](const StoredTicket& stored,
                          const std::vector<std::size_t>& failed) -> OrRefusal<TicketChange> {
    if (!failed.empty()) {
      TRY(const std::string last, last_in_millisecond(keys, ticket_id, feedback.submitted_at));
      auto next = next_feedback_time(feedback.submitted_at, last);
      if (!next) return refuse(RefusalKind::busy, "the ticket has too much feedback of this moment; try again");
      feedback.submitted_text = *std::move(next);
    }
    // The commit fails if the ticket has got another event meanwhile, so that two at once are not both the first.
    if (actor.scope.customer_id) TRY_VOID(check_bound(keys, ticket_id, given.operator_id));
    feedback.customer_id = stored.ticket.customer.id;
    TicketChange change{.after = stored, .event = {}};
    change.event.at = feedback.submitted_at;
    change.event.type = std::string(feedback_event);
    change.event.by = actor.known_as();
    change.event.details = item::Map{{"operator_id", feedback.operator_id}, {"rating", feedback.rating}};
    change.beside.emplace_back(store_.put(feedback_item(keys, feedback), "attribute_not_exists(PK)"));
    change.note_answer(actor, feedback.submitted_text);
    return change;
  };
  TRY_VOID(writer_.change(ticket_id, actor.scope, decide));
  return feedback;
}

OrRefusal<Feedback> FeedbackRecords::find(const std::string& ticket_id, const std::string& submitted_at,
                                          const Actor& actor) {
  TRY_VOID(store_.find_readable(ticket_id, actor.scope));
  const std::string partition = store_.keys(actor.scope).ticket(ticket_id);
  TRY(const std::optional<item::Item> item,
      store_.get(Keys::key(partition, std::string(feedback_begin) + submitted_at)));
  if (!item) return refuse(RefusalKind::unknown_ticket, "the ticket " + ticket_id + " has no feedback of this time");
  auto feedback = read_feedback(*item);
  if (!feedback) return base::propagate(refusal_of(feedback.error()));
  return *std::move(feedback);
}

OrRefusal<Page<Feedback>> FeedbackRecords::read_page(Page<item::Item> items) {
  // An index that another program made has less of them: those are read from the table.
  std::vector<item::Key> missing;
  for (const item::Item& item : items.entries)
    if (!item.contains("data") || !item.contains("operator_id"))
      missing.push_back(Keys::key(item::attribute_text(item, "PK"), item::attribute_text(item, "SK")));
  std::map<std::string, item::Item> whole;
  if (!missing.empty()) {
    TRY(std::vector<item::Item> found, store_.get_many(missing));
    for (item::Item& item : found) whole.emplace(key_text(item), std::move(item));
  }
  Page<Feedback> answer;
  answer.cursor = std::move(items.cursor);
  for (const item::Item& item : items.entries) {
    const auto found = whole.find(key_text(item));
    if (auto feedback = read_feedback(found != whole.end() ? found->second : item))
      answer.entries.push_back(*std::move(feedback));
    else {
      base::log_warning("support", "feedback is left out of a list", {{"cause", feedback.error().message}});
      ++answer.unreadable;
    }
  }
  return answer;
}

OrRefusal<TicketWithFeedback> FeedbackRecords::of_ticket(const std::string& ticket_id, const PageRequest& page,
                                                         const Actor& actor) {
  TRY(const int limit, page_limit(page.limit, operator_page));
  const Keys keys = store_.keys(actor.scope);
  store::MergedListing listing;
  listing.name = "feedback/" + ticket_id;
  listing.ranges = {{keys.ticket(ticket_id)}};
  listing.newest_first = true;
  listing.from = std::string(feedback_begin);
  listing.to = std::string(metadata_sort);
  if (!page.cursor.empty()) {
    TRY(StoredTicket stored, store_.find_readable(ticket_id, actor.scope));
    TRY(Page<item::Item> items, store_.list(std::move(listing), {page.cursor, limit}, operator_page, actor.scope));
    TRY(Page<Feedback> feedback, read_page(std::move(items)));
    return TicketWithFeedback{shown_to(actor.scope, std::move(stored.ticket)), std::move(feedback)};
  }
  if (ticket_id.empty() || ticket_id.size() > TicketLimits::id_bytes) return refuse_unknown(ticket_id);
  // The ticket comes first.
  TRY(Page<item::Item> items,
      store_.list(std::move(listing), {"", std::min(limit + 1, largest_page)}, operator_page, actor.scope));
  if (items.entries.empty() || item::attribute_text(items.entries.front(), "SK") != metadata_sort)
    return refuse_unknown(ticket_id);
  item::Item metadata = std::move(items.entries.front());
  items.entries.erase(items.entries.begin());
  auto stored = read_ticket(keys, std::move(metadata));
  if (!stored && !actor.scope.customer_id) return base::propagate(refusal_of(stored.error()));
  if (!stored || !actor.scope.covers(stored->ticket.customer.id)) return refuse_unknown(ticket_id);
  TRY(Page<Feedback> feedback, read_page(std::move(items)));
  return TicketWithFeedback{shown_to(actor.scope, std::move(stored->ticket)), std::move(feedback)};
}

OrRefusal<Page<Feedback>> FeedbackRecords::by_operator(const std::string& operator_id, const PageRequest& page,
                                                       const Actor& actor) {
  FieldRules rules;
  rules.name("operator_id", operator_id, TicketLimits::id_bytes);
  TRY_VOID(rules.outcome());
  const Keys keys = store_.keys(actor.scope);
  store::MergedListing listing;
  listing.name = "operator/" + operator_id;
  listing.newest_first = true;
  if (actor.scope.customer_id) {
    // Not by leaving out those of others: a cursor would tell of them.
    listing.index = std::string(customer_index);
    listing.partition_key = "GSI1PK";
    listing.sort_key = "GSI1SK";
    listing.ranges = {{keys.feedback_of(*actor.scope.customer_id), operator_id + "#"}};
    listing.shows = [&](const item::Item& item) {
      return item::attribute_text(item, "operator_id") == operator_id &&
             actor.scope.covers(item::attribute_text(item, "customer_id"));
    };
  } else {
    listing.index = std::string(operator_index);
    listing.partition_key = "GSI3PK";
    listing.sort_key = "GSI3SK";
    listing.ranges = {{keys.operated_by(operator_id)}};
  }
  TRY(Page<item::Item> items, store_.list(std::move(listing), page, operator_page, actor.scope));
  return read_page(std::move(items));
}

}  // namespace postino::support
