// Batches. The service may leave out what it has no throughput for, or what makes an answer too large: it is asked for
// again.
#include <algorithm>

#include "base/backoff.h"
#include "item/size.h"
#include "remote/asking.h"
#include "remote/protocol/answers.h"
#include "remote/protocol/requests.h"
#include "remote/remote_store.h"

namespace postino::remote {

namespace {

// Adds the units of a later round to those of the same table.
void add_capacity(std::vector<store::ConsumedCapacity>& sum, std::vector<store::ConsumedCapacity> more) {
  for (store::ConsumedCapacity& each : more) {
    const auto found = std::ranges::find(sum, each.table_name, &store::ConsumedCapacity::table_name);
    if (found == sum.end()) {
      sum.push_back(std::move(each));
      continue;
    }
    found->total += each.total;
    found->table += each.table;
    for (const auto& [index, units] : each.global_indexes) found->global_indexes[index] += units;
    for (const auto& [index, units] : each.local_indexes) found->local_indexes[index] += units;
  }
}

std::size_t bytes_of(const store::BatchGetItemResponse& response) {
  std::size_t bytes = 0;
  for (const auto& table : response.tables)
    for (const item::Item& item : table.items) bytes += item::size_of(item);
  return bytes;
}

// The rounds of one batch: how often, and until when.
class Rounds {
 public:
  Rounds(Caller& caller, base::Random& random)
      : caller_(caller), random_(random), end_(net::deadline_in(caller.options().call_time)) {}

  // Waits before the next one; false when there is none.
  bool next() {
    if (++done_ >= caller_.options().attempts) return false;
    const base::Milliseconds delay = caller_.options().backoff.full_jitter(done_, random_);
    return net::deadline_in(delay) < end_ && caller_.pause(delay);
  }

 private:
  Caller& caller_;
  base::Random& random_;
  const net::Deadline end_;
  int done_ = 0;
};

void add_round(store::BatchGetItemResponse& all, store::BatchGetItemResponse more) {
  for (auto& table : more.tables) {
    const auto found =
        std::ranges::find(all.tables, table.table_name, &store::BatchGetItemResponse::TableItems::table_name);
    if (found == all.tables.end())
      all.tables.push_back(std::move(table));
    else
      std::ranges::move(table.items, std::back_inserter(found->items));
  }
  all.unprocessed = std::move(more.unprocessed);
  add_capacity(all.consumed_capacity, std::move(more.consumed_capacity));
}

void add_round(store::BatchWriteItemResponse& all, store::BatchWriteItemResponse more) {
  all.unprocessed = std::move(more.unprocessed);
  std::ranges::move(more.item_collection_metrics, std::back_inserter(all.item_collection_metrics));
  add_capacity(all.consumed_capacity, std::move(more.consumed_capacity));
}

}  // namespace

store::Answer<store::BatchGetItemResponse> RemoteStore::batch_get_item(const store::BatchGetItemRequest& request) {
  if (is_given_up(request.allowance)) return store::read_given_up();
  constexpr std::string_view operation = "BatchGetItem";
  const auto ask_for = [&](const store::BatchGetItemRequest& part) {
    const std::string table = part.tables.empty() ? "" : part.tables.front().table_name;
    return ask(*caller_, {.operation = operation, .table = table, .body = encode(part)},
               [&](std::string body) { return decode_batch_get(std::move(body), part.tables); })
        .answer;
  };
  TRY(store::BatchGetItemResponse response, ask_for(request));
  Rounds rounds(*caller_, random_);
  // As with one answer, no more than 16 MB come together.
  while (!response.unprocessed.empty() && bytes_of(response) < store::max_batch_get_bytes && rounds.next()) {
    auto more = ask_for({.tables = response.unprocessed});
    if (!more) break;  // the caller is told what is left
    add_round(response, *std::move(more));
  }
  report_capacity(*caller_, operation, Units::read, request.return_consumed_capacity, response.consumed_capacity);
  return response;
}

store::Answer<store::BatchWriteItemResponse> RemoteStore::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  constexpr std::string_view operation = "BatchWriteItem";
  const auto ask_for = [&](const store::BatchWriteItemRequest& part) {
    const std::string table = part.tables.empty() ? "" : part.tables.front().table_name;
    return settled(ask(*caller_, {.operation = operation, .table = table, .body = encode(part)}, decode_batch_write));
  };
  TRY(store::BatchWriteItemResponse response, ask_for(request));
  Rounds rounds(*caller_, random_);
  while (!response.unprocessed.empty() && rounds.next()) {
    auto more = ask_for({.tables = response.unprocessed, .report = request.report});
    if (!more) break;
    add_round(response, *std::move(more));
  }
  report_capacity(*caller_, operation, Units::write, request.report.consumed_capacity, response.consumed_capacity);
  return response;
}

}  // namespace postino::remote
