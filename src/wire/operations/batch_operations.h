// BatchGetItem and BatchWriteItem.
#pragma once

#include "wire/protocol/operation.h"

namespace postino::wire {

struct KeysInput {
  std::optional<std::vector<MapInput>> keys;
  std::optional<std::vector<std::string>> attributes_to_get;
  std::optional<bool> consistent_read;
  std::optional<std::string> projection;
  std::optional<expr::Names> names;
};
template <>
struct Shape<KeysInput> {
  static constexpr std::string_view name = "KeysAndAttributes";
  using T = KeysInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::keys>("Keys"),
      member<T, &T::attributes_to_get>("AttributesToGet"),
      member<T, &T::consistent_read>("ConsistentRead"),
      member<T, &T::projection>("ProjectionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
  });
};
struct BatchGetItemInput {
  std::optional<Entries<KeysInput>> request_items;
  std::optional<std::string> return_consumed_capacity;
};
template <>
struct Shape<BatchGetItemInput> {
  static constexpr std::string_view name = "BatchGetItemInput";
  using T = BatchGetItemInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::request_items>("RequestItems"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
  });
};

struct PutRequestInput {
  std::optional<MapInput> item;
};
template <>
struct Shape<PutRequestInput> {
  static constexpr std::string_view name = "PutRequest";
  using T = PutRequestInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::item>("Item")});
};
struct DeleteRequestInput {
  std::optional<MapInput> key;
};
template <>
struct Shape<DeleteRequestInput> {
  static constexpr std::string_view name = "DeleteRequest";
  using T = DeleteRequestInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::key>("Key")});
};
struct WriteRequestInput {
  std::optional<PutRequestInput> put;
  std::optional<DeleteRequestInput> remove;
};
template <>
struct Shape<WriteRequestInput> {
  static constexpr std::string_view name = "WriteRequest";
  using T = WriteRequestInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::put>("PutRequest"),
      member<T, &T::remove>("DeleteRequest"),
  });
};
struct BatchWriteItemInput {
  std::optional<Entries<std::vector<WriteRequestInput>>> request_items;
  std::optional<std::string> return_consumed_capacity;
  std::optional<std::string> return_item_collection_metrics;
};
template <>
struct Shape<BatchWriteItemInput> {
  static constexpr std::string_view name = "BatchWriteItemInput";
  using T = BatchWriteItemInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::request_items>("RequestItems"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
      member<T, &T::return_item_collection_metrics>("ReturnItemCollectionMetrics"),
  });
};

// With what the caller called the tables.
template <class StoreRequest>
struct BatchRequest : StoreRequest {
  GivenNames given_names;
};

struct BatchGetItem {
  static constexpr std::string_view name = "BatchGetItem";
  static constexpr bool may_take_long = true;
  using Input = BatchGetItemInput;
  using Request = BatchRequest<store::BatchGetItemRequest>;
  using Response = store::BatchGetItemResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void add_reporting(const Request& request, Reporting& reporting) {
    reporting.given_names = request.given_names;
  }
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct BatchWriteItem {
  static constexpr std::string_view name = "BatchWriteItem";
  using Input = BatchWriteItemInput;
  using Request = BatchRequest<store::BatchWriteItemRequest>;
  using Response = store::BatchWriteItemResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void add_reporting(const Request& request, Reporting& reporting) {
    reporting.given_names = request.given_names;
  }
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// The metrics of batches and transactions: by table, under the name that the caller gave it.
void write_collection_metrics(JsonWriter& json, const std::vector<store::BatchWriteItemResponse::TableMetrics>& tables,
                              const GivenNames& given_names = nullptr);

}  // namespace postino::wire
