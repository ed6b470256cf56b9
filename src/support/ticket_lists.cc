#include "support/ticket_lists.h"

#include <algorithm>

#include "item/attribute_text.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr int most_rounds = 10;                       // of looking at tickets one after the other
constexpr std::int64_t most_counted_tickets = 1'000;  // of a status

std::string moment_text(const std::optional<base::TimePoint>& time) { return time ? write_time(*time) : std::string(); }

// Lengths before names, so that no two filters have the same one.
std::string filter_name(const TicketFilter& filter) {
  std::string name = "tickets";
  for (const std::string& part :
       {filter.customer_id, filter.status ? std::string(name_of(*filter.status)) : std::string(), filter.priority,
        filter.product_type, filter.error_code, moment_text(filter.from), moment_text(filter.until)})
    name.append("/").append(std::to_string(part.size())).append(":").append(part);
  return name;
}

// What is unavailable may be as it was when the ticket was filed.
bool is_about(const std::string& wanted, const std::string& value, const Ticket& ticket) {
  return wanted.empty() || value == wanted || (value.empty() && !ticket.unavailable.empty());
}

bool fits(const TicketFilter& filter, const Ticket& ticket) {
  return (filter.customer_id.empty() || ticket.customer.id == filter.customer_id) &&
         (!filter.status || ticket.status == *filter.status) &&
         (filter.priority.empty() || ticket.priority == filter.priority) &&
         is_about(filter.product_type, ticket.asset.product_type, ticket) &&
         is_about(filter.error_code, ticket.error_code, ticket) &&
         (!filter.from || ticket.created_at >= *filter.from) && (!filter.until || ticket.created_at < *filter.until);
}

void use_index(store::MergedListing& listing, std::string_view index, const std::string& prefix) {
  listing.index = std::string(index);
  listing.partition_key = prefix + "PK";
  listing.sort_key = prefix + "SK";
}

void add_shards(store::MergedListing& listing, const Keys& keys, const std::string& partition) {
  for (std::string& shard : keys.shards_of(partition)) listing.ranges.push_back({std::move(shard)});
}

// The partitions of an index that have whole tickets.
void list_tickets(store::MergedListing& listing, const Keys& keys, const TicketFilter& filter) {
  const bool of_customer = !filter.customer_id.empty();
  if (of_customer)
    use_index(listing, customer_index, "GSI1");
  else
    use_index(listing, status_index, "GSI2");
  for (const TicketStatus status : all_statuses) {
    if (filter.status && *filter.status != status) continue;
    if (of_customer)
      listing.ranges.push_back({keys.customer(filter.customer_id), customer_sort_begin(status)});
    else
      add_shards(listing, keys, keys.status(status));
  }
}

}  // namespace

template <class Wanted>
OrRefusal<Page<Ticket>> TicketLists::follow(const store::MergedListing& listing, const PageRequest& page, int usual,
                                            const Actor& actor, const Wanted& wanted) {
  TRY(const int limit, page_limit(page.limit, usual));
  Page<Ticket> answer;
  answer.cursor = page.cursor;
  for (int round = 0; round < most_rounds; ++round) {
    const int missing = limit - static_cast<int>(answer.entries.size());
    TRY(const Page<item::Item> items, store_.list(listing, {answer.cursor, missing}, usual, actor.scope));
    answer.cursor = items.cursor;
    std::vector<std::string> ids;
    for (const item::Item& item : items.entries) ids.push_back(item::attribute_text(item, "ticket_id"));
    // The entry may be older than what has become of its ticket.
    TRY(std::vector<StoredTicket> found, store_.find_many(ids, actor.scope, &answer.unreadable));
    for (StoredTicket& stored : found)
      if (wanted(stored.ticket)) answer.entries.push_back(shown_to(actor.scope, std::move(stored.ticket)));
    if (answer.cursor.empty() || answer.entries.size() == static_cast<std::size_t>(limit)) break;
  }
  return answer;
}

OrRefusal<Page<Ticket>> TicketLists::find(const TicketFilter& given, const PageRequest& page, const Actor& actor) {
  FieldRules rules;
  const auto check = [&](const char* field, const std::string& value) {
    if (!value.empty()) rules.name(field, value, 4 * TicketLimits::short_text);
  };
  check("customer_id", given.customer_id);
  check("priority", given.priority);
  check("product_type", given.product_type);
  check("error_code", given.error_code);
  TRY_VOID(rules.outcome());
  const Scope& scope = actor.scope;
  TicketFilter filter = given;
  if (scope.customer_id && filter.customer_id.empty()) filter.customer_id = *scope.customer_id;
  // Another customer's tickets are none that the caller could know of.
  if (!scope.covers(filter.customer_id)) return Page<Ticket>();

  const Keys keys = store_.keys(scope);
  const int usual = filter.customer_id.empty() ? status_page : customer_page;
  store::MergedListing listing;
  listing.name = filter_name(filter);
  listing.newest_first = true;
  if (filter.from) listing.from = first_key_of_second(*filter.from);
  if (filter.until) listing.to = store::end_of_prefix(first_key_of_second(*filter.until));
  // Entries of others would be told of by a cursor, so that a bound caller's list is that of the customer.
  const bool is_bound = scope.customer_id.has_value();
  std::string partition;
  if (!is_bound && !filter.error_code.empty())
    partition = keys.error(filter.error_code);
  else if (!is_bound && !filter.product_type.empty())
    partition = keys.product(filter.product_type);
  else if (!is_bound && filter.customer_id.empty() && !filter.priority.empty())
    partition = keys.priority(filter.priority);
  if (!partition.empty()) {
    use_index(listing, customer_index, "GSI1");
    add_shards(listing, keys, partition);
    if (!filter.customer_id.empty())
      listing.shows = [&](const item::Item& item) {
        return item::attribute_text(item, "customer_id") == filter.customer_id;
      };
    return follow(listing, page, usual, actor, [&](const Ticket& ticket) { return fits(filter, ticket); });
  }
  list_tickets(listing, keys, filter);
  // Read once: an entry is a whole ticket.
  Page<Ticket> answer;
  listing.shows = [&](const item::Item& item) {
    auto ticket = store_.visible(item, scope, answer.unreadable);
    if (!ticket || !fits(filter, *ticket)) return false;
    answer.entries.push_back(shown_to(scope, *std::move(ticket)));
    return true;
  };
  TRY(Page<item::Item> items, store_.list(std::move(listing), page, usual, scope));
  answer.cursor = std::move(items.cursor);
  return answer;
}

OrRefusal<std::int64_t> TicketLists::count_entries(const store::MergedListing& listing, std::int64_t most) {
  std::int64_t counted = 0;
  for (const store::ListedRange& range : listing.ranges) {
    store::QueryRequest request;
    request.table_name = store_.tables().tickets;
    request.index_name = listing.index;
    request.select = store::Select::count;
    expr::Names names{{"#partition", listing.partition_key}};
    item::Map values{{":partition", range.partition}};
    request.key_condition = "#partition = :partition";
    if (!range.prefix.empty()) {
      request.key_condition = "#partition = :partition AND begins_with(#sort, :prefix)";
      names.emplace("#sort", listing.sort_key);
      values.set(":prefix", range.prefix);
    }
    request.placeholders = {std::move(names), std::move(values)};
    do {
      if (counted >= most) return counted;
      request.limit = static_cast<int>(most - counted);
      TRY(store::PageResponse page, store_.query(request));
      counted += page.count;
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key);
  }
  return counted;
}

OrRefusal<TicketCounts> TicketLists::count(const Actor& actor) {
  const Keys keys = store_.keys(actor.scope);
  TicketCounts counts;
  for (const TicketStatus status : all_statuses) {
    store::MergedListing listing;
    list_tickets(listing, keys, {.customer_id = actor.scope.customer_id.value_or(""), .status = status});
    // One more tells whether there are more.
    TRY(const std::int64_t counted, count_entries(listing, most_counted_tickets + 1));
    counts.by_status.push_back({status, std::min(counted, most_counted_tickets), counted > most_counted_tickets});
  }
  return counts;
}

OrRefusal<Page<Ticket>> TicketLists::escalated(const std::string& engineer, const PageRequest& page,
                                               const Actor& actor) {
  FieldRules rules;
  if (!engineer.empty()) rules.name("engineer", engineer, TicketLimits::id_bytes);
  TRY_VOID(rules.outcome());
  const auto wanted = [&](const Ticket& ticket) {
    return ticket.escalation && (engineer.empty() || ticket.escalation->engineer == engineer);
  };
  const Scope& scope = actor.scope;
  // Customers are not told who takes care of their tickets, not by asking for a name either.
  if (scope.customer_id && !engineer.empty()) return Page<Ticket>();
  const Keys keys = store_.keys(scope);
  store::MergedListing listing;
  listing.name = "escalated/" + engineer;
  listing.newest_first = true;
  if (scope.customer_id) {
    // In the order of their creation: few are escalated at a time.
    use_index(listing, customer_index, "GSI1");
    listing.ranges = {{keys.customer(*scope.customer_id), customer_sort_begin(TicketStatus::escalated)}};
    return follow(listing, page, other_page, actor, wanted);
  }
  if (engineer.empty()) {
    use_index(listing, customer_index, "GSI1");
    add_shards(listing, keys, keys.escalations());
  } else {
    use_index(listing, operator_index, "GSI3");
    listing.ranges = {{keys.escalated_to(engineer)}};
  }
  return follow(listing, page, other_page, actor, wanted);
}

}  // namespace postino::support
