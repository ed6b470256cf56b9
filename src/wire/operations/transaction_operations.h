// TransactGetItems and TransactWriteItems.
#pragma once

#include "wire/protocol/operation.h"

namespace postino::wire {

struct TransactGetInput {
  std::optional<std::string> table_name;
  std::optional<MapInput> key;
  std::optional<std::string> projection;
  std::optional<expr::Names> names;
};
template <>
struct Shape<TransactGetInput> {
  static constexpr std::string_view name = "Get";
  using T = TransactGetInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::key>("Key"),
      member<T, &T::projection>("ProjectionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
  });
};
struct TransactGetItemInput {
  std::optional<TransactGetInput> get;
};
template <>
struct Shape<TransactGetItemInput> {
  static constexpr std::string_view name = "TransactGetItem";
  using T = TransactGetItemInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::get>("Get")});
};
struct TransactGetItemsInput {
  std::optional<std::vector<TransactGetItemInput>> items;
  std::optional<std::string> return_consumed_capacity;
};
template <>
struct Shape<TransactGetItemsInput> {
  static constexpr std::string_view name = "TransactGetItemsInput";
  using T = TransactGetItemsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::items>("TransactItems"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
  });
};

// Any of the four actions of a transaction.
struct TransactActionInput {
  std::optional<std::string> table_name;
  std::optional<MapInput> item;
  std::optional<MapInput> key;
  std::optional<std::string> update;
  std::optional<std::string> condition;
  std::optional<expr::Names> names;
  std::optional<ValuesInput> values;
  std::optional<std::string> return_values_on_failure;
};
template <>
struct Shape<TransactActionInput> {
  static constexpr std::string_view name = "Put";
  using T = TransactActionInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::item>("Item"),
      member<T, &T::key>("Key"),
      member<T, &T::update>("UpdateExpression"),
      member<T, &T::condition>("ConditionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
      member<T, &T::values>("ExpressionAttributeValues"),
      member<T, &T::return_values_on_failure>("ReturnValuesOnConditionCheckFailure"),
  });
};
struct TransactWriteItemInput {
  std::optional<TransactActionInput> put;
  std::optional<TransactActionInput> update;
  std::optional<TransactActionInput> remove;
  std::optional<TransactActionInput> check;
};
template <>
struct Shape<TransactWriteItemInput> {
  static constexpr std::string_view name = "TransactWriteItem";
  using T = TransactWriteItemInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::put>("Put"),
      member<T, &T::update>("Update"),
      member<T, &T::remove>("Delete"),
      member<T, &T::check>("ConditionCheck"),
  });
};
struct TransactWriteItemsInput {
  std::optional<std::vector<TransactWriteItemInput>> items;
  std::optional<std::string> client_request_token;
  std::optional<std::string> return_consumed_capacity;
  std::optional<std::string> return_item_collection_metrics;
};
template <>
struct Shape<TransactWriteItemsInput> {
  static constexpr std::string_view name = "TransactWriteItemsInput";
  using T = TransactWriteItemsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::items>("TransactItems"),
      member<T, &T::client_request_token>("ClientRequestToken"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
      member<T, &T::return_item_collection_metrics>("ReturnItemCollectionMetrics"),
  });
};

struct TransactGetItems {
  static constexpr std::string_view name = "TransactGetItems";
  static constexpr bool may_take_long = true;
  using Input = TransactGetItemsInput;
  using Request = store::TransactGetItemsRequest;
  using Response = store::TransactGetItemsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct TransactWriteItems {
  static constexpr std::string_view name = "TransactWriteItems";
  using Input = TransactWriteItemsInput;
  using Request = store::TransactWriteItemsRequest;
  using Response = store::TransactWriteItemsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
