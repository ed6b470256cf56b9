// How many messages stand on the shelves, and counting them again.
#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "messages/queue_table.h"
#include "store/count_mender.h"

namespace postino::messages {

namespace {

QueueTable::Tally tally_of(const std::vector<item::Item>& slices) {
  QueueTable::Tally tally;
  for (const item::Item& slice : slices)
    for (std::size_t shelf = 0; shelf < shelf_count; ++shelf) {
      store::add_count(tally.counts[shelf], slice, count_names[shelf]);
      const item::AttributeValue* value = slice.find(count_names[shelf]);
      if (value != nullptr && !store::whole_count(*value)) tally.is_spoilt = true;
    }
  return tally;
}

// Is the difference no more than what other callers may have moved while the messages were counted?
bool is_near(const QueueTable::Tally& tally, const QueueTable::Counts& counted) {
  constexpr std::int64_t near = 1'000;
  for (std::size_t shelf = 0; shelf < shelf_count; ++shelf)
    if (tally.counts[shelf] < counted[shelf] - near || tally.counts[shelf] > counted[shelf] + near) return false;
  return !tally.is_spoilt;
}

// That a slice has not changed.
template <class Action>
void require_unchanged(Action& action, const item::Item& slice) {
  std::string condition = "attribute_exists(Shelf)";
  for (const std::string_view name : count_names) {
    const item::AttributeValue* value = slice.find(name);
    if (value == nullptr) {
      condition.append(" AND attribute_not_exists(").append(name).append(")");
      continue;
    }
    condition.append(" AND ").append(name).append(" = :").append(name);
    if (!action.placeholders.values) action.placeholders.values = item::Map{};
    action.placeholders.values->set(":" + std::string(name), *value);
  }
  action.condition = store::ConditionExpression(std::move(condition));
}

// The first slice gets everything, the others go. Cancelled when a caller has changed one of them.
store::TransactWriteItemsRequest replacement(const std::string& table, const std::string& queue,
                                             const std::vector<item::Item>& slices, const QueueTable::Counts& counts) {
  const std::string first = "0";
  store::TransactWriteItemsRequest request;
  store::TransactPut put;
  put.table_name = table;
  put.item = {{"Shelf", counts_name(queue)}, {"Position", first}};
  for (std::size_t shelf = 0; shelf < shelf_count; ++shelf)
    put.item.set(std::string(count_names[shelf]), counts[shelf]);
  put.condition = "attribute_not_exists(Shelf)";
  for (const item::Item& slice : slices) {
    if (*slice.find("Position") == item::AttributeValue(first)) {
      require_unchanged(put, slice);
      continue;
    }
    store::TransactDelete removal;
    removal.table_name = table;
    removal.key = {{"Shelf", *slice.find("Shelf")}, {"Position", *slice.find("Position")}};
    require_unchanged(removal, slice);
    request.actions.emplace_back(std::move(removal));
  }
  request.actions.emplace_back(std::move(put));
  return request;
}

}  // namespace

store::Answer<std::vector<item::Item>> QueueTable::slices(const std::string& queue) {
  store::QueryRequest query;
  query.table_name = name_;
  query.key_condition = "Shelf = :shelf";
  query.placeholders.values = item::Map{{":shelf", counts_name(queue)}};
  query.consistent_read = true;
  TRY(store::PageResponse page, retry_([&] { return store_.query(query); }));
  return std::move(page.items);
}

store::Answer<QueueTable::Tally> QueueTable::tally(const std::string& queue) {
  TRY(const std::vector<item::Item> found, slices(queue));
  return tally_of(found);
}

store::Answer<QueueTable::Counts> QueueTable::counts(const std::string& queue) {
  TRY(const Tally found, tally(queue));
  return found.counts;
}

store::Answer<QueueTable::Counts> QueueTable::count_messages(const std::string& queue) {
  Counts counts{};
  for (const Shelf shelf : {Shelf::ready, Shelf::later, Shelf::held}) {
    store::QueryRequest query;
    query.table_name = name_;
    query.key_condition = "Shelf = :shelf";
    query.placeholders.values = item::Map{{":shelf", shelf_name(shelf, queue)}};
    query.consistent_read = true;
    query.select = store::Select::count;
    do {
      TRY(const store::PageResponse page, retry_([&] { return store_.query(query); }));
      counts[static_cast<std::size_t>(shelf)] += page.count;
      query.exclusive_start_key = page.last_evaluated_key;
    } while (query.exclusive_start_key);
  }
  return counts;
}

store::Answer<QueueTable::Counts> QueueTable::recount(const std::string& queue) {
  constexpr int most_counts = 3;
  constexpr int most_writes = 16;
  constexpr std::size_t most_slices = store::max_transaction_actions - 1;
  Counts counted{};
  std::vector<item::Item> present;
  // Exact when no message was moved meanwhile.
  bool is_exact = false;
  for (int round = 0; round < most_counts && !is_exact; ++round) {
    TRY(const std::vector<item::Item> before, slices(queue));
    TRY(counted, count_messages(queue));
    TRY(present, slices(queue));
    is_exact = present == before;
  }
  const Tally found = tally_of(present);
  if (!is_exact && is_near(found, counted)) return found.counts;
  if (is_exact && !found.is_spoilt && found.counts == counted) return counted;
  for (int round = 0; round < most_writes && present.size() <= most_slices; ++round) {
    const store::TransactWriteItemsRequest request = replacement(name_, queue, present, counted);
    const auto answer = retry_.transact(store_, request);
    if (answer) {
      base::log_warning("messages", "the counts of a queue could not be true and were counted again",
                        {{"queue", queue}, {"ready", std::to_string(counted[0])}});
      break;
    }
    if (answer.error().type != store::ErrorType::transaction_canceled) return base::propagate(answer.error());
    TRY(present, slices(queue));
  }
  return counted;
}

store::Answer<void> QueueTable::recount() {
  if (!store_.describe_table(name_)) return {};
  std::map<std::string, Counts> counts;
  store::ScanRequest scan;
  scan.table_name = name_;
  scan.consistent_read = true;
  do {
    TRY(const store::PageResponse page, store_.scan(scan));
    for (const item::Item& item : page.items) {
      const auto* name = item.find("Shelf")->get_if<std::string>();
      const auto* position = item.find("Position")->get_if<std::string>();
      if (name == nullptr || position == nullptr) continue;
      const auto place = place_of_shelf(*name);
      if (place) {
        ++counts[place->queue][static_cast<std::size_t>(place->shelf)];
      } else if (name->starts_with(counts_name(""))) {
        store::DeleteItemRequest removal;
        removal.table_name = name_;
        removal.key = {{"Shelf", *name}, {"Position", *position}};
        TRY(const store::WriteItemResponse removed, store_.delete_item(removal));
        static_cast<void>(removed);
      }
    }
    scan.exclusive_start_key = page.last_evaluated_key;
  } while (scan.exclusive_start_key);
  for (const auto& [queue, count] : counts) {
    store::PutItemRequest slice;
    slice.table_name = name_;
    slice.item = {
        {"Shelf", counts_name(queue)}, {"Position", "0"}, {"Ready", count[0]}, {"Later", count[1]}, {"Held", count[2]}};
    TRY(const store::WriteItemResponse written, store_.put_item(slice));
    static_cast<void>(written);
  }
  return {};
}

}  // namespace postino::messages
