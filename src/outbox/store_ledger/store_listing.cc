// Listings: the partitions of an index, merged.
#include <algorithm>
#include <functional>
#include <sstream>

#include "base/timestamp.h"
#include "outbox/ledger/listing_cursor.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

// Sorts after every position of a listing.
constexpr const char* end_of_positions = "~";

std::string id_in(const std::string& position) { return position.substr(position.find('#') + 1); }

// The last one told of those whose callbacks were given up; without an id, the beginning of the shard.
struct DeadPosition {
  int shard = 0;
  item::Number due;  // exactly: another program may have written one that is no time
  std::string id;
};

std::string text_of(const DeadPosition& position) {
  return "dead " + std::to_string(position.shard) + " " + position.due.to_string() + " " + position.id;
}

base::Result<DeadPosition> read_dead_position(const std::string& cursor) {
  TRY(const std::string text, read_cursor(cursor));
  DeadPosition position;
  std::istringstream words(text);
  std::string kind;
  std::string due;
  words >> kind >> position.shard >> due;
  const auto number = item::Number::parse(due);
  if (words.fail() || kind != "dead" || position.shard < 0 || !number)
    return base::invalid("cursor must be that of an earlier page");
  position.due = *number;
  words >> position.id;
  return position;
}

item::Number due_in(const item::Item& entry) { return entry.find("DueAt")->as<item::Number>(); }

}  // namespace

store::Answer<std::vector<std::string>> StoreLedger::read_listing(const std::string& tenant,
                                                                  const std::string& partition, const std::string& low,
                                                                  const std::string& high, int limit) {
  store::QueryRequest query;
  query.table_name = tables_.emails;
  query.index_name = std::string(tenant.empty() ? list_index : tenant_index);
  query.key_condition = tenant.empty() ? "Listing = :listing AND ListedAt BETWEEN :low AND :high"
                                       : "TenantListing = :listing AND ListedAt BETWEEN :low AND :high";
  query.placeholders.values = item::Map{{":listing", partition}, {":low", low}, {":high", high}};
  query.forward = false;
  query.limit = limit;
  TRY(const store::PageResponse page, store_.query(query));
  std::vector<std::string> positions;
  for (const item::Item& item : page.items) positions.push_back(item.find("ListedAt")->as<std::string>());
  return positions;
}

base::Result<std::vector<std::string>> StoreLedger::find_positions(const ListRequest& request, const std::string& low,
                                                                   const std::string& high) {
  std::vector<std::string> positions;
  for (const State state : all_states()) {
    if (listed_state(state) != state || (request.state && listed_state(*request.state) != state)) continue;
    for (int shard = 0; shard < shard_count; ++shard) {
      const std::string partition =
          request.tenant.empty() ? queue_name(state, shard) : tenant_listing(request.tenant, state, shard);
      // Two more: one is the cursor's own, one tells whether there is another page.
      const auto found = retry_([&] { return read_listing(request.tenant, partition, low, high, request.limit + 2); });
      if (!found) return base::propagate(store::as_error(found.error()));
      positions.insert(positions.end(), found->begin(), found->end());
    }
  }
  std::ranges::sort(positions, std::greater());
  // Between two queries an e-mail can go from one state to the other, and be seen in both.
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

base::Result<EmailPage> StoreLedger::list(const ListRequest& request) {
  constexpr int most_rounds = 20;  // a page may come out empty when few of many are in the state that is asked for
  const std::string low = request.from ? base::format_timestamp(*request.from) : "0";
  std::string high = request.to ? base::format_timestamp(*request.to) : end_of_positions;
  std::string last;
  if (!request.cursor.empty()) {
    TRY(last, read_cursor(request.cursor));
    high = std::min(high, last);
  }
  EmailPage page;
  const auto wanted = static_cast<std::size_t>(request.limit);
  for (int round = 0; round < most_rounds && page.emails.empty() && high >= low; ++round) {
    TRY(std::vector<std::string> positions, find_positions(request, low, high));
    std::erase(positions, last);
    page.cursor.clear();
    if (positions.size() > wanted) {
      positions.resize(wanted);
      last = high = positions.back();
      page.cursor = make_cursor(last);
    }
    std::vector<std::string> ids;
    for (const std::string& position : positions) ids.push_back(id_in(position));
    TRY(page.emails, read(ids));
    if (request.state) std::erase_if(page.emails, [&](const Email& email) { return email.state != *request.state; });
    if (page.cursor.empty()) break;
  }
  return page;
}

base::Result<EmailPage> StoreLedger::dead_callbacks(const std::string& cursor, int limit) {
  DeadPosition position;
  if (!cursor.empty()) {
    TRY(position, read_dead_position(cursor));
  }
  EmailPage page;
  while (position.shard < shard_count) {
    store::QueryRequest query;
    query.table_name = tables_.emails;
    query.index_name = std::string(work_index);
    query.key_condition = "Queue = :queue";
    query.placeholders.values = item::Map{{":queue", dead_callback_queue(position.shard)}};
    query.limit = limit - static_cast<int>(page.emails.size());
    if (!position.id.empty()) {
      query.exclusive_start_key = meta_key(position.id);
      query.exclusive_start_key->set("Queue", dead_callback_queue(position.shard));
      query.exclusive_start_key->set("DueAt", position.due);
    }
    const auto found = retry_([&] { return store_.query(query); });
    if (!found) return base::propagate(store::as_error(found.error()));
    std::vector<std::string> ids;
    for (const item::Item& item : found->items) ids.push_back(item.find("Id")->as<std::string>());
    TRY(std::vector<Email> emails, read(ids));
    for (Email& email : emails)
      if (email.callback_dead) page.emails.push_back(std::move(email));
    if (found->last_evaluated_key)
      position = {position.shard, due_in(found->items.back()), ids.back()};
    else
      position = {position.shard + 1, {}, ""};
    if (static_cast<int>(page.emails.size()) < limit) continue;
    if (position.shard < shard_count) page.cursor = make_cursor(text_of(position));
    break;
  }
  return page;
}

}  // namespace postino::outbox
