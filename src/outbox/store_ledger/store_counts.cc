#include "outbox/store_ledger/store_counts.h"

#include <algorithm>

#include "base/timestamp.h"

namespace postino::outbox {

namespace {

store::TransactUpdate update_of(const std::string& table, const std::string& tenant, const std::string& slice,
                                const std::map<State, std::int64_t>& differences, base::TimePoint expires) {
  store::TransactUpdate update;
  update.table_name = table;
  update.key = {{"Tenant", tenant}, {"Slice", slice}};
  expr::Names names{{"#ttl", "TTL"}};
  item::Map values{{":ttl", base::epoch_seconds(expires)}};
  std::string text = "SET #ttl = :ttl ADD ";
  bool first = true;
  for (const auto& [state, difference] : differences) {
    // Named by the state, so that the text is the same each time and is parsed once.
    const std::string number = std::to_string(static_cast<int>(state));
    text.append(first ? "#s" : ", #s").append(number).append(" :d").append(number);
    names.emplace("#s" + number, std::string(name_of(state)));
    values.set(":d" + number, difference);
    first = false;
  }
  update.update = std::move(text);
  update.placeholders.names = std::move(names);
  update.placeholders.values = std::move(values);
  return update;
}

void add_slice(const item::Item& slice, Counts& counts) {
  for (const State state : all_states())
    store::add_count(counts[static_cast<std::size_t>(state)], slice, name_of(state));
}

}  // namespace

std::vector<CountChanges::Slice> CountChanges::slices_of(const Email& email) {
  const std::string day = base::format_day(kept_from(email));
  std::vector<Slice> slices{{all_tenants_name, day}};
  if (!email.tenant.empty()) slices.push_back({email.tenant, day});
  return slices;
}

std::size_t CountChanges::size_with(const Email& email) const {
  const std::vector<Slice> slices = slices_of(email);
  return changes_.size() + static_cast<std::size_t>(std::ranges::count_if(
                               slices, [&](const Slice& slice) { return !changes_.contains(slice); }));
}

void CountChanges::add(const Email& email, State state, std::int64_t difference) {
  for (const Slice& slice : slices_of(email)) {
    Change& change = changes_[slice];
    change.kept_from = kept_from(email);
    change.by_state[state] += difference;
  }
}

std::vector<store::TransactAction> CountChanges::actions(const std::string& table, base::Milliseconds keep,
                                                         int spread) const {
  std::vector<store::TransactAction> actions;
  for (const auto& [slice, change] : changes_)
    actions.push_back(update_of(table, slice.tenant, slice.day + "#" + std::to_string(spread), change.by_state,
                                base::end_of_day(change.kept_from) + keep));
  return actions;
}

store::CountMender mender_of_counts(store::Store& store, const std::string& table) {
  const auto states = all_states();
  std::vector<std::string_view> names;
  for (const State state : states) names.push_back(name_of(state));
  return {store, table, std::move(names)};
}

store::Answer<Counts> read_counts(store::Store& store, const std::string& table,
                                  const std::optional<std::string>& tenant) {
  Counts counts{};
  store::QueryRequest query;
  query.table_name = table;
  query.key_condition = "Tenant = :tenant";
  query.placeholders.values =
      item::Map{{":tenant", tenant && !tenant->empty() ? *tenant : std::string(all_tenants_name)}};
  query.consistent_read = true;
  do {
    TRY(const store::PageResponse page, store.query(query));
    for (const item::Item& slice : page.items) add_slice(slice, counts);
    query.exclusive_start_key = page.last_evaluated_key;
  } while (query.exclusive_start_key);
  // A count that had to start over may be too low.
  for (std::int64_t& count : counts) count = std::max<std::int64_t>(count, 0);
  return counts;
}

}  // namespace postino::outbox
