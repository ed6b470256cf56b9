// Listings: the partitions of an index, merged.
#include <algorithm>
#include <functional>
#include <sstream>

#include "base/timestamp.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/work_queue.h"
#include "store/list_cursor.h"

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
  TRY(const std::string text, store::read_cursor("callbacks", cursor));
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

// The requests are the ledger's own: when the store finds no such index, it is the table that is not as it must be, and
// not what the caller has asked for.
base::Error listing_error(const store::Error& error, const std::string& table, std::string_view index) {
  base::Error told = store::as_error(error);
  if (error.rule == base::Rule::known_index)
    return {base::ErrorCode::not_found, "table " + table + " has no index " + std::string(index) +
                                            ", by which e-mails are listed: the server makes it again when it starts"};
  if (error.rule == base::Rule::filled_index) told.code = base::ErrorCode::exhausted;
  return told;
}

std::string_view listing_index(const std::string& tenant) { return tenant.empty() ? list_index : tenant_index; }

item::Number due_in(const item::Item& entry) { return entry.find("DueAt")->as<item::Number>(); }

std::string id_in_entry(const item::Item& entry) { return entry.find("Id")->as<std::string>(); }

// Is something asked for that e-mails are listed under?
bool asks_for_listing(const ListRequest& request, State listed) {
  return std::ranges::any_of(all_states(),
                             [&](State state) { return listed_state(state) == listed && request.has_state(state); });
}

// The first round reads what fits on the page. If too little of that is asked for, the next ones read more at once.
int listing_chunk(int limit, int examined) { return examined == 0 ? limit : std::max(limit, examined_at_once); }

// Goes through e-mails that were read in the order of the ids: one that cannot be read, or is gone, is missing there.
class EmailsInOrder {
 public:
  explicit EmailsInOrder(std::vector<Email> emails) : emails_(std::move(emails)) {}

  Email* find(std::string_view id) {
    if (next_ == emails_.size() || emails_[next_].id != id) return nullptr;
    return &emails_[next_++];
  }

 private:
  std::vector<Email> emails_;
  std::size_t next_ = 0;
};

}  // namespace

store::Answer<std::vector<std::string>> StoreLedger::read_listing(const std::string& tenant,
                                                                  const std::string& partition, const std::string& low,
                                                                  const std::string& high, int limit) {
  store::QueryRequest query;
  query.table_name = tables_.emails;
  query.index_name = std::string(listing_index(tenant));
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
                                                                   const std::string& high, int limit) {
  std::vector<std::string> positions;
  for (const State state : all_states()) {
    if (listed_state(state) != state || !asks_for_listing(request, state)) continue;
    for (int shard = 0; shard < shards_.most(); ++shard) {
      const std::string partition =
          request.tenant.empty() ? queue_name(state, shard) : tenant_listing(request.tenant, state, shard);
      // Two more: one is the cursor's own, one tells whether there is another page.
      const auto found = retry_([&] { return read_listing(request.tenant, partition, low, high, limit + 2); });
      if (!found) return base::propagate(listing_error(found.error(), tables_.emails, listing_index(request.tenant)));
      positions.insert(positions.end(), found->begin(), found->end());
    }
  }
  std::ranges::sort(positions, std::greater());
  // Between two queries an e-mail can go from one state to the other, and be seen in both.
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

base::Result<EmailPage> StoreLedger::list(const ListRequest& request) {
  const std::string low = request.since ? base::format_timestamp(*request.since) : "0";
  std::string high = request.until ? base::format_timestamp(*request.until) : end_of_positions;
  std::string last;
  if (!request.cursor.empty()) {
    TRY(last, store::read_cursor("emails", request.cursor));
    high = std::min(high, last);
  }
  EmailPage page;
  const auto wanted = static_cast<std::size_t>(request.limit);
  for (int examined = 0; high >= low;) {
    const int chunk = listing_chunk(request.limit, examined);
    TRY(std::vector<std::string> positions, find_positions(request, low, high, chunk));
    std::erase(positions, last);
    const bool are_more = positions.size() > static_cast<std::size_t>(chunk);
    if (are_more) positions.resize(static_cast<std::size_t>(chunk));
    std::vector<std::string> ids;
    for (const std::string& position : positions) ids.push_back(id_in(position));
    TRY(std::vector<Email> read_emails, read(ids));
    EmailsInOrder emails(std::move(read_emails));
    std::size_t seen = 0;
    for (; seen < positions.size() && page.emails.size() < wanted; ++seen, ++examined) {
      last = high = positions[seen];
      Email* const email = emails.find(ids[seen]);
      if (email != nullptr && request.has_state(email->state) && matches(*email, request.filter))
        page.emails.push_back(std::move(*email));
    }
    if (!are_more && seen == positions.size()) break;
    if (page.emails.size() < wanted && examined < most_examined) continue;
    page.cursor = store::make_cursor("emails", last);
    break;
  }
  return page;
}

base::Result<EmailPage> StoreLedger::dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) {
  DeadPosition position;
  if (!cursor.empty()) {
    TRY(position, read_dead_position(cursor));
  }
  EmailPage page;
  const auto wanted = static_cast<std::size_t>(limit);
  for (int examined = 0; position.shard < shards_.most();) {
    if (page.emails.size() >= wanted || examined >= most_examined) {
      page.cursor = store::make_cursor("callbacks", text_of(position));
      break;
    }
    store::QueryRequest query;
    query.table_name = tables_.emails;
    query.index_name = std::string(work_index);
    query.key_condition = "Queue = :queue";
    query.placeholders.values = item::Map{{":queue", dead_callback_queue(position.shard)}};
    query.limit = listing_chunk(limit, examined);
    if (!position.id.empty()) {
      query.exclusive_start_key = meta_key(position.id);
      query.exclusive_start_key->set("Queue", dead_callback_queue(position.shard));
      query.exclusive_start_key->set("DueAt", position.due);
    }
    const auto found = retry_([&] { return store_.query(query); });
    if (!found) return base::propagate(listing_error(found.error(), tables_.emails, work_index));
    std::vector<std::string> ids;
    for (const item::Item& entry : found->items) ids.push_back(id_in_entry(entry));
    TRY(std::vector<Email> read_emails, read(ids));
    EmailsInOrder emails(std::move(read_emails));
    std::size_t seen = 0;
    for (; seen < ids.size() && page.emails.size() < wanted; ++seen, ++examined) {
      Email* const email = emails.find(ids[seen]);
      if (email != nullptr && email->callback_dead && (tenant.empty() || email->tenant == tenant))
        page.emails.push_back(std::move(*email));
    }
    if (seen < ids.size() || found->last_evaluated_key)
      position = {position.shard, due_in(found->items[seen - 1]), ids[seen - 1]};
    else
      position = {position.shard + 1, {}, ""};
  }
  return page;
}

}  // namespace postino::outbox
