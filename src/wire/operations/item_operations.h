// Single items: GetItem, PutItem, UpdateItem, DeleteItem.
#pragma once

#include "wire/protocol/legacy_input.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

struct GetItemInput {
  std::optional<std::string> table_name;
  std::optional<MapInput> key;
  std::optional<std::vector<std::string>> attributes_to_get;
  std::optional<bool> consistent_read;
  std::optional<std::string> projection;
  std::optional<expr::Names> names;
  std::optional<std::string> return_consumed_capacity;
};
template <>
struct Shape<GetItemInput> {
  static constexpr std::string_view name = "GetItemInput";
  using T = GetItemInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::key>("Key"),
      member<T, &T::consistent_read>("ConsistentRead"),
      member<T, &T::projection>("ProjectionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
      member<T, &T::attributes_to_get>("AttributesToGet"),
  });
};

// Put, Update and Delete have nearly everything in common.
struct WriteItemInput {
  std::optional<std::string> table_name;
  std::optional<MapInput> item;
  std::optional<MapInput> key;
  std::optional<std::string> update;
  std::optional<std::string> condition;
  std::optional<expr::Names> names;
  std::optional<ValuesInput> values;
  std::optional<std::string> return_values;
  std::optional<std::string> return_consumed_capacity;
  std::optional<std::string> return_item_collection_metrics;
  std::optional<std::string> return_values_on_failure;
  std::optional<Conditions> expected;
  std::optional<AttributeUpdates> attribute_updates;
  std::optional<std::string> conditional_operator;
};
template <>
struct Shape<WriteItemInput> {
  static constexpr std::string_view name = "WriteItemInput";
  using T = WriteItemInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::item>("Item"),
      member<T, &T::key>("Key"),
      member<T, &T::update>("UpdateExpression"),
      member<T, &T::condition>("ConditionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
      member<T, &T::values>("ExpressionAttributeValues"),
      member<T, &T::return_values>("ReturnValues"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
      member<T, &T::return_item_collection_metrics>("ReturnItemCollectionMetrics"),
      member<T, &T::return_values_on_failure>("ReturnValuesOnConditionCheckFailure"),
      member<T, &T::expected, expectation_name>("Expected"),
      member<T, &T::attribute_updates>("AttributeUpdates"),
      member<T, &T::conditional_operator>("ConditionalOperator"),
  });
};

struct GetItem {
  static constexpr std::string_view name = "GetItem";
  using Input = GetItemInput;
  using Request = store::GetItemRequest;
  using Response = store::GetItemResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// What the answers of writes have in common.
struct WriteItem {
  using Input = WriteItemInput;
  using Response = store::WriteItemResponse;
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct PutItem : WriteItem {
  static constexpr std::string_view name = "PutItem";
  using Request = store::PutItemRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
};

// AttributeUpdates and an UpdateExpression fail with different texts.
struct UpdateItemRequest : store::UpdateItemRequest {
  bool attribute_updates = false;
};

struct UpdateItem : WriteItem {
  static constexpr std::string_view name = "UpdateItem";
  using Request = UpdateItemRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
  static void add_reporting(const Request& request, Reporting& reporting) {
    reporting.attribute_updates = request.attribute_updates;
  }
  static void reword(store::Error& error, const Reporting& reporting);
};

struct DeleteItem : WriteItem {
  static constexpr std::string_view name = "DeleteItem";
  using Request = store::DeleteItemRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, store::Completion<Response> done);
};

}  // namespace postino::wire
