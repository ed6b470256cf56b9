// Single items, batches and transactions.
#include <algorithm>
#include <future>

#include "capacity_model.h"
#include "item/json_codec.h"
#include "request_text.h"
#include "runner.h"

namespace postino::model {

namespace {

constexpr int tokens = 6;
constexpr std::size_t remembered_transactions = 12;

template <class Response>
store::Answer<Response> wait_for(const std::function<void(store::Completion<Response>)>& start) {
  const auto promise = std::make_shared<std::promise<store::Answer<Response>>>();
  start([promise](store::Answer<Response> answer) { promise->set_value(std::move(answer)); });
  return promise->get_future().get();
}

std::string metrics_difference(const ModelTable& table, const WriteOperation& operation,
                               const std::optional<store::ItemCollectionMetrics>& metrics, bool asked) {
  const bool has_local = std::ranges::any_of(table.indexes, [](const ModelIndex& index) { return !index.global; });
  if (metrics.has_value() != (asked && has_local)) return "item collection metrics where none belong, or none";
  if (!metrics) return {};
  item::Key expected;
  expected.set(table.hash, *operation.subject.find(table.hash));
  return difference(expected, metrics->collection_key);
}

}  // namespace

template <class Request>
store::Answer<store::WriteItemResponse> Runner::send(
    const Request& request, store::Answer<store::WriteItemResponse> (store::Store::*wait)(const Request&),
    void (store::Store::*tell)(const Request&, store::Completion<store::WriteItemResponse>)) {
  announce(text_of(request));
  if (!choice_.one_in(3)) return (store().*wait)(request);
  return wait_for<store::WriteItemResponse>(
      [&](store::Completion<store::WriteItemResponse> done) { (store().*tell)(request, std::move(done)); });
}

void Runner::write_item() {
  const WriteOperation operation = generator_.write();
  store::Answer<store::WriteItemResponse> actual;
  bool asked_for_metrics = false;
  if (operation.kind == WriteOperation::Kind::put) {
    const store::PutItemRequest request = builder_.put(operation);
    asked_for_metrics = request.report.item_collection_metrics;
    actual = send<store::PutItemRequest>(request, &store::Store::put_item, &store::Store::put_item);
  } else if (operation.kind == WriteOperation::Kind::update) {
    const store::UpdateItemRequest request = builder_.update(operation);
    asked_for_metrics = request.report.item_collection_metrics;
    actual = send<store::UpdateItemRequest>(request, &store::Store::update_item, &store::Store::update_item);
  } else {
    const store::DeleteItemRequest request = builder_.remove(operation);
    asked_for_metrics = request.report.item_collection_metrics;
    actual = send<store::DeleteItemRequest>(request, &store::Store::delete_item, &store::Store::delete_item);
  }
  const Expected<WriteAnswer> expected = model_.write(operation);
  if (!both_succeed(expected, actual)) return;
  expect_same(difference(expected->attributes, actual->attributes));
  const ModelTable& table = model_.tables.at(operation.table);
  expect_same(metrics_difference(table, operation, actual->item_collection_metrics, asked_for_metrics));
  if (!actual->consumed_capacity) return;
  CapacityModel capacity(1);
  capacity.add_write(table, expected->effect);
  expect_same(capacity.difference({*actual->consumed_capacity}));
}

void Runner::get_item() {
  const GetOperation operation = generator_.get();
  const store::GetItemRequest request = builder_.get(operation);
  announce(text_of(request));
  const auto actual = store().get_item(request);
  const auto expected = model_.get(operation);
  if (!both_succeed(expected, actual)) return;
  expect_same(difference(*expected, actual->item));
  if (!actual->consumed_capacity) return;
  CapacityModel capacity(1);
  capacity.add_read(model_.tables.at(operation.table), *model_.get({operation.table, operation.key, std::nullopt}),
                    request.consistent_read);
  expect_same(capacity.difference({*actual->consumed_capacity}));
}

void Runner::write_batch() {
  const std::vector<WriteOperation> operations = generator_.batch_write();
  const store::BatchWriteItemRequest request = builder_.batch(operations);
  announce(text_of(request));
  const auto actual = choice_.one_in(2) ? store().batch_write_item(request)
                                        : wait_for<store::BatchWriteItemResponse>(
                                              [&](auto done) { store().batch_write_item(request, std::move(done)); });
  const auto expected = model_.write_batch(operations);
  if (!both_succeed(expected, actual)) return;
  if (!actual->unprocessed.empty()) expect_same("not everything was processed");
  if (request.report.consumed_capacity == store::ReturnConsumedCapacity::none) return;
  CapacityModel capacity(1);
  for (std::size_t i = 0; i < operations.size(); ++i)
    capacity.add_write(model_.tables.at(operations[i].table), (*expected)[i]);
  expect_same(capacity.difference(actual->consumed_capacity));
}

void Runner::get_batch() {
  const std::vector<GetOperation> operations = generator_.batch_get();
  const store::BatchGetItemRequest request = builder_.batch(operations);
  announce(text_of(request));
  const auto actual = store().batch_get_item(request);
  const auto expected = model_.get_batch(operations);
  if (!both_succeed(expected, actual)) return;
  // Of each table the items that are there; the model's order is as good as any.
  for (const auto& table : actual->tables) {
    std::vector<std::string> wanted, got;
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (operations[i].table == table.table_name && (*expected)[i]) wanted.push_back(item::to_json(*(*expected)[i]));
    for (const item::Item& item : table.items) got.push_back(item::to_json(item));
    std::ranges::sort(wanted);
    std::ranges::sort(got);
    if (wanted != got) expect_same("other items of " + table.table_name + ": " + text_of(table.items));
  }
  if (actual->tables.size() != request.tables.size()) expect_same("another number of tables");
}

void Runner::write_transaction() {
  TransactionOperation operation;
  operation.writes = generator_.transact_write();
  if (choice_.one_in(3)) operation.token = "token-" + std::to_string(choice_.between(1, tokens));
  // DynamoDB's protocol has no update without an expression in a transaction.
  if (front_ && std::ranges::any_of(operation.writes, [](const WriteOperation& write) {
        return write.kind == WriteOperation::Kind::update && !write.update;
      }))
    return;
  const store::TransactWriteItemsRequest request = builder_.transaction(operation);
  operation.request_text = text_of(request);
  announce(operation.request_text);
  const auto actual = choice_.one_in(2) ? store().transact_write_items(request)
                                        : wait_for<store::TransactWriteItemsResponse>([&](auto done) {
                                            store().transact_write_items(request, std::move(done));
                                          });
  const auto expected = model_.write_transaction(operation);
  if (operation.token) sent_with_token_.emplace_back(operation, request);
  if (sent_with_token_.size() > remembered_transactions) sent_with_token_.erase(sent_with_token_.begin());
  if (!both_succeed(expected, actual)) return;
  if (request.report.consumed_capacity == store::ReturnConsumedCapacity::none) return;
  if (expected->empty()) return;
  CapacityModel capacity(2);
  for (std::size_t i = 0; i < operation.writes.size(); ++i)
    capacity.add_write(model_.tables.at(operation.writes[i].table), (*expected)[i]);
  expect_same(capacity.difference(actual->consumed_capacity));
}

void Runner::repeat_transaction() {
  if (sent_with_token_.empty()) return;
  const auto& [operation, request] = choice_.of(sent_with_token_);
  announce("again: " + operation.request_text);
  const auto actual = store().transact_write_items(request);
  both_succeed(model_.write_transaction(operation), actual);
}

void Runner::get_transaction() {
  const std::vector<GetOperation> operations = generator_.transact_get();
  const store::TransactGetItemsRequest request = builder_.transaction(operations);
  announce(text_of(request));
  const auto actual = store().transact_get_items(request);
  const auto expected = model_.get_transaction(operations);
  if (!both_succeed(expected, actual)) return;
  expect_same(difference(*expected, actual->items));
  if (request.return_consumed_capacity == store::ReturnConsumedCapacity::none) return;
  CapacityModel capacity(2);
  for (const GetOperation& operation : operations)
    capacity.add_read(model_.tables.at(operation.table), *model_.get({operation.table, operation.key, std::nullopt}),
                      true);
  expect_same(capacity.difference(actual->consumed_capacity));
}

}  // namespace postino::model
