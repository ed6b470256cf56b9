#include "store/sharded_counter.h"

#include "store/count_mender.h"

namespace postino::store {

item::Key ShardedCounter::key_of(std::string partition) const {
  item::Key key{{place_.hash_key, std::move(partition)}};
  if (!place_.sort.empty()) key.set(place_.range_key, place_.sort);
  return key;
}

TransactUpdate ShardedCounter::add_action(std::int64_t by, std::string_view spread) const {
  TransactUpdate update;
  update.table_name = place_.table;
  update.key = key_of(place_.shards.of(spread));
  update.update = "ADD #count :by";
  update.placeholders.names = expr::Names{{"#count", place_.attribute}};
  update.placeholders.values = item::Map{{":by", by}};
  return update;
}

Answer<void> ShardedCounter::add(std::int64_t by, std::string_view spread) {
  TransactWriteItemsRequest request;
  request.actions.emplace_back(add_action(by, spread));
  CountMender mender(store_, place_.table, {place_.attribute});
  while (true) {
    request.client_request_token = base::make_uuid(random_);
    const auto written = retry_.transact(store_, request);
    if (written) return {};
    if (!mender.mend(request, written.error())) return base::propagate(written.error());
  }
}

Answer<std::int64_t> ShardedCounter::read() {
  BatchGetItemRequest request;
  BatchGetTable table;
  table.table_name = place_.table;
  table.consistent_read = true;
  for (std::string& partition : place_.shards.all()) table.keys.push_back(key_of(std::move(partition)));
  request.tables.push_back(std::move(table));
  std::int64_t sum = 0;
  while (!request.tables.empty()) {
    TRY(BatchGetItemResponse response, retry_([&] { return store_.batch_get_item(request); }));
    for (const auto& found : response.tables)
      for (const item::Item& item : found.items) add_count(sum, item, place_.attribute);
    request.tables = std::move(response.unprocessed);
  }
  return sum;
}

}  // namespace postino::store
