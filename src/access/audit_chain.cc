#include "access/audit_chain.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "store/table_setup.h"

namespace postino::access {

namespace {

constexpr std::size_t most_others = 50;
constexpr std::size_t chain_name_length = 8;
constexpr int most_chains_tried = 5;
// A chain of a shared store that no process has written for so long is free. A process that still has it takes another.
constexpr base::Milliseconds free_after = std::chrono::minutes(10);

bool is_condition_failure(const store::Error& error) {
  if (error.type != store::ErrorType::transaction_canceled || error.details == nullptr) return false;
  return std::ranges::any_of(error.details->reasons,
                             [](const auto& reason) { return reason.code == "ConditionalCheckFailed"; });
}

}  // namespace

store::TableSetup audit_table_setup(const AuditOptions& options) {
  store::TableSetup setup;
  setup.request = store::table_request(options.table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
  if (options.marks_table) setup.request.tags = {{std::string(store::read_only_tag), "audit"}};
  setup.expiry = "ttl";
  return setup;
}

base::Result<void> prepare_audit(store::Store& store, const AuditOptions& options) {
  const store::TableSetup setup = audit_table_setup(options);
  TRY_VOID(store::prepare_table(store, setup.request, setup.expiry));
  if (!options.marks_table) return {};
  return store::mark_read_only(store, options.table, "audit");
}

AuditChain::AuditChain(store::Store& store, AuditOptions options, const base::Clock& clock, base::Random& random,
                       store::Retry retry)
    : store_(store),
      options_(std::move(options)),
      clock_(clock),
      random_(random),
      retry_(std::move(retry)),
      owner_(base::make_uuid(random)) {}

store::Answer<void> AuditChain::append(const std::vector<AuditEvent>& events) {
  for (int tried = 0; tried < most_chains_tried; ++tried) {
    // Was it done after all? Its last entry tells, also if another process has gone on with the chain since.
    if (!unsure_.empty()) {
      TRY(const bool is_done, is_there(unsure_.back()));
      const std::vector<AuditEntry> entries = std::exchange(unsure_, {});
      if (is_done) return take(entries), store::Answer<void>();
    }
    if (!is_open_) TRY_VOID(open());
    std::vector<AuditEntry> entries = make_entries(events);
    const auto done = commit(entries);
    if (done) return take(entries), store::Answer<void>();
    if (!is_condition_failure(done.error())) {
      unsure_ = std::move(entries);
      return base::propagate(done.error());
    }
    // Another process has gone on with the chain; or it was changed, which is told by the next one.
    if (record_.owner == owner_ && !is_empty()) lost_.push_back(record_.head);
    is_open_ = false;
  }
  return store::refuse(store::ErrorType::throttling, "others write to each chain of the audit");
}

// They are on disk.
void AuditChain::take(const std::vector<AuditEntry>& entries) {
  if (is_empty()) record_.begun_at = entries.front().at;
  record_.head = entries.back().head();
  record_.owner = owner_;
  others_.clear();
  lost_.clear();
}

void AuditChain::leave() {
  if (!is_open_ || record_.owner != owner_ || !unsure_.empty()) return;
  store::UpdateItemRequest update;
  update.table_name = options_.table;
  update.key = {{"PK", std::string(chains_partition)}, {"SK", record_.head.chain}};
  update.update = "REMOVE #owner";
  update.condition = "#owner = :owner";
  update.placeholders.names = expr::Names{{"#owner", "owner"}};
  update.placeholders.values = item::Map{{":owner", owner_}};
  (void)store_.update_item(update);  // otherwise it is free in a while
  is_open_ = false;
}

store::Answer<void> AuditChain::open() {
  TRY(const std::vector<AuditChainRecord> chains, read_chains());
  others_ = lost_;
  if (const auto chosen = choose(chains)) {
    record_ = *chosen;
  } else {
    record_ = {};
    record_.head.chain = base::to_hex(base::sha256(base::make_uuid(random_))).substr(0, chain_name_length);
  }
  for (const AuditChainRecord& chain : chains)
    if (chain.head.chain != record_.head.chain) others_.push_back(chain.head);
  std::ranges::sort(others_, std::ranges::greater(), &AuditHead::at);
  if (others_.size() > most_others) others_.resize(most_others);
  is_open_ = true;
  return {};
}

store::Answer<std::vector<AuditChainRecord>> AuditChain::read_chains() {
  std::vector<AuditChainRecord> chains;
  store::QueryRequest query;
  query.table_name = options_.table;
  query.key_condition = "PK = :chains";
  query.placeholders.values = item::Map{{":chains", std::string(chains_partition)}};
  query.consistent_read = true;
  do {
    TRY(store::PageResponse page, retry_([&] { return store_.query(query); }));
    // What cannot be read is found by those who verify; this server begins another chain.
    for (const item::Item& item : page.items)
      if (auto record = read_audit_chain(item)) chains.push_back(*std::move(record));
    query.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (query.exclusive_start_key);
  return chains;
}

// The one that was written last, of those that are free.
std::optional<AuditChainRecord> AuditChain::choose(const std::vector<AuditChainRecord>& chains) const {
  const AuditChainRecord* best = nullptr;
  for (const AuditChainRecord& chain : chains) {
    const bool is_free = !store_.is_shared() || chain.owner.empty() || chain.head.at + free_after < clock_.now();
    const bool was_lost =
        std::ranges::find(lost_, chain.head.chain, &AuditHead::chain) != lost_.end() || chain.head.number == 0;
    if (is_free && !was_lost && (best == nullptr || best->head.at < chain.head.at)) best = &chain;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::vector<AuditEntry> AuditChain::make_entries(const std::vector<AuditEvent>& events) {
  std::vector<AuditEntry> entries;
  AuditHead head = record_.head;
  const auto add = [&](AuditEvent event, std::vector<AuditHead> others) {
    AuditEntry entry = next_entry(within_limits(std::move(event)), head);
    entry.others = std::move(others);
    entry.digest = digest_of(entry);
    head = entry.head();
    entries.push_back(std::move(entry));
  };
  if (record_.owner != owner_)
    add({.actor = "", .kind = AuditEvent::server, .action = std::string(audit_opened)}, others_);
  for (const AuditEvent& event : events) add(event, {});
  return entries;
}

AuditEntry AuditChain::next_entry(AuditEvent event, const AuditHead& after) const {
  AuditEntry entry;
  entry.event = std::move(event);
  entry.chain = after.chain;
  entry.number = after.number + 1;
  entry.at = std::max(clock_.now(), after.at);
  entry.previous = after.digest;
  entry.expires_at = base::epoch_seconds(entry.at + options_.kept);
  entry.earlier_gone_by = after.gone_by;
  return entry;
}

store::Answer<void> AuditChain::commit(const std::vector<AuditEntry>& entries) {
  store::TransactWriteItemsRequest request;
  for (const AuditEntry& entry : entries) {
    store::TransactPut put;
    put.table_name = options_.table;
    put.item = item_of(entry);
    put.condition = "attribute_not_exists(PK)";
    request.actions.emplace_back(std::move(put));
  }
  store::TransactPut record;
  record.table_name = options_.table;
  record.item =
      item_of(AuditChainRecord{entries.back().head(), owner_, is_empty() ? entries.front().at : record_.begun_at});
  if (is_empty()) {
    record.condition = "attribute_not_exists(PK)";
  } else {
    // Another process that has gone on with the chain has written something.
    record.condition = "#digest = :digest";
    record.placeholders.names = expr::Names{{"#digest", "digest"}};
    record.placeholders.values = item::Map{{":digest", record_.head.digest}};
  }
  request.actions.emplace_back(std::move(record));
  TRY_VOID(retry_.transact(store_, request));
  return {};
}

store::Answer<bool> AuditChain::is_there(const AuditEntry& entry) {
  store::GetItemRequest get;
  get.table_name = options_.table;
  get.key = {{"PK", audit_partition(entry.at)}, {"SK", audit_sort_key(entry.at, entry.chain, entry.number)}};
  get.consistent_read = true;
  TRY(const store::GetItemResponse found, retry_([&] { return store_.get_item(get); }));
  if (!found.item) return false;
  const auto there = read_audit_entry(*found.item);
  return there && there->digest == entry.digest;
}

}  // namespace postino::access
