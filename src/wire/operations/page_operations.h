// Query and Scan.
#pragma once

#include "wire/protocol/legacy_input.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

// They have nearly everything in common.
struct PageInput {
  std::optional<std::string> table_name;
  std::optional<std::string> index_name;
  std::optional<std::string> key_condition;
  std::optional<std::string> filter;
  std::optional<std::string> projection;
  std::optional<expr::Names> names;
  std::optional<ValuesInput> values;
  std::optional<std::string> select;
  std::optional<std::int32_t> limit;
  std::optional<MapInput> exclusive_start_key;
  std::optional<bool> consistent_read;
  std::optional<bool> scan_index_forward;
  std::optional<std::int32_t> segment;
  std::optional<std::int32_t> total_segments;
  std::optional<std::string> return_consumed_capacity;
  std::optional<std::vector<std::string>> attributes_to_get;
  std::optional<Conditions> key_conditions;
  std::optional<Conditions> query_filter;
  std::optional<Conditions> scan_filter;
  std::optional<std::string> conditional_operator;
};
template <>
struct Shape<PageInput> {
  static constexpr std::string_view name = "QueryInput";
  using T = PageInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::index_name>("IndexName"),
      member<T, &T::key_condition>("KeyConditionExpression"),
      member<T, &T::filter>("FilterExpression"),
      member<T, &T::projection>("ProjectionExpression"),
      member<T, &T::names>("ExpressionAttributeNames"),
      member<T, &T::values>("ExpressionAttributeValues"),
      member<T, &T::select>("Select"),
      member<T, &T::limit>("Limit"),
      member<T, &T::exclusive_start_key>("ExclusiveStartKey"),
      member<T, &T::consistent_read>("ConsistentRead"),
      member<T, &T::scan_index_forward>("ScanIndexForward"),
      member<T, &T::segment>("Segment"),
      member<T, &T::total_segments>("TotalSegments"),
      member<T, &T::return_consumed_capacity>("ReturnConsumedCapacity"),
      member<T, &T::attributes_to_get>("AttributesToGet"),
      member<T, &T::key_conditions>("KeyConditions"),
      member<T, &T::query_filter>("QueryFilter"),
      member<T, &T::scan_filter>("ScanFilter"),
      member<T, &T::conditional_operator>("ConditionalOperator"),
  });
};

struct ReadPage {
  static constexpr bool may_take_long = true;
  using Input = PageInput;
  using Response = store::PageResponse;
  template <class Request>
  static void add_reporting(const Request& request, Reporting& reporting) {
    reporting.count_only = request.select == store::Select::count;
  }
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// KeyConditions and a KeyConditionExpression fail with different texts.
struct QueryRequest : store::QueryRequest {
  bool key_conditions = false;
};

struct Query : ReadPage {
  static constexpr std::string_view name = "Query";
  using Request = QueryRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void add_reporting(const Request& request, Reporting& reporting) {
    ReadPage::add_reporting(request, reporting);
    reporting.key_conditions = request.key_conditions;
  }
  static void reword(store::Error& error, const Reporting& reporting);
};

struct Scan : ReadPage {
  static constexpr std::string_view name = "Scan";
  using Request = store::ScanRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

}  // namespace postino::wire
