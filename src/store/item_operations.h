// Requests and answers for single items, queries, scans and batches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/capacity.h"
#include "store/expression.h"
#include "store/read_allowance.h"

namespace postino::store {

inline constexpr std::size_t max_batch_get_keys = 100;
inline constexpr std::size_t max_batch_write_requests = 25;
inline constexpr std::size_t max_page_bytes = 1'048'576;
inline constexpr std::size_t max_batch_get_bytes = 16 * 1'048'576;

enum class ReturnValues { none, all_old, updated_old, all_new, updated_new };

// What every write can be asked to report.
struct WriteReport {
  ReturnConsumedCapacity consumed_capacity = ReturnConsumedCapacity::none;
  bool item_collection_metrics = false;
};

struct GetItemRequest {
  std::string table_name;
  item::Key key;
  std::optional<ProjectionExpression> projection;
  expr::Placeholders placeholders;
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::none;
  ReadAllowance* allowance = nullptr;  // of the caller; nullptr: as much as it takes
};
struct GetItemResponse {
  std::optional<item::Item> item;
  std::optional<ConsumedCapacity> consumed_capacity;
};

struct PutItemRequest {
  std::string table_name;
  item::Item item;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  ReturnValues return_values = ReturnValues::none;  // none or all_old
  bool return_item_on_failure = false;
  WriteReport report;
};

struct UpdateItemRequest {
  std::string table_name;
  item::Key key;
  std::optional<UpdateExpression> update;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  ReturnValues return_values = ReturnValues::none;
  bool return_item_on_failure = false;
  WriteReport report;
};

struct DeleteItemRequest {
  std::string table_name;
  item::Key key;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  ReturnValues return_values = ReturnValues::none;  // none or all_old
  bool return_item_on_failure = false;
  WriteReport report;
};

// The answer to a put, an update or a delete.
struct WriteItemResponse {
  std::optional<item::Item> attributes;
  std::optional<ConsumedCapacity> consumed_capacity;
  std::optional<ItemCollectionMetrics> item_collection_metrics;
};

enum class Select { all_attributes, all_projected_attributes, count, specific_attributes };

// What Query and Scan have in common.
struct ReadPage {
  std::string table_name;
  std::optional<std::string> index_name;
  std::optional<ConditionExpression> filter;
  std::optional<ProjectionExpression> projection;
  expr::Placeholders placeholders;
  std::optional<Select> select;
  std::optional<int> limit;  // items examined, not returned
  std::optional<item::Key> exclusive_start_key;
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::none;
  // What messages call the filter and the projection: the parameters that the caller's user gave.
  std::string_view filter_name = "Filter Expression";
  std::string_view projection_name = "ProjectionExpression";
  ReadAllowance* allowance = nullptr;  // of the caller; nullptr: as much as it takes
};

struct QueryRequest : ReadPage {
  std::optional<ConditionExpression> key_condition;
  bool forward = true;
};

struct ScanRequest : ReadPage {
  std::optional<int> segment;
  std::optional<int> total_segments;
};

struct PageResponse {
  std::vector<item::Item> items;  // empty when only the count was asked for
  int count = 0;                  // items that passed the filter
  int scanned_count = 0;          // items examined
  std::optional<item::Key> last_evaluated_key;
  std::optional<ConsumedCapacity> consumed_capacity;
};

struct BatchGetTable {
  std::string table_name;
  std::vector<item::Key> keys;
  std::optional<ProjectionExpression> projection;
  expr::Placeholders placeholders;
  bool consistent_read = false;
};
struct BatchGetItemRequest {
  std::vector<BatchGetTable> tables;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::none;
  ReadAllowance* allowance = nullptr;  // of the caller; nullptr: as much as it takes
};
struct BatchGetItemResponse {
  struct TableItems {
    std::string table_name;
    std::vector<item::Item> items;
  };
  std::vector<TableItems> tables;          // every table of the request, in its order
  std::vector<BatchGetTable> unprocessed;  // what did not fit into 16 MB
  std::vector<ConsumedCapacity> consumed_capacity;
};

struct BatchPut {
  item::Item item;
};
struct BatchDelete {
  item::Key key;
};
using BatchWrite = std::variant<BatchPut, BatchDelete>;
struct BatchWriteTable {
  std::string table_name;
  std::vector<BatchWrite> writes;
};
struct BatchWriteItemRequest {
  std::vector<BatchWriteTable> tables;
  WriteReport report;
};
struct BatchWriteItemResponse {
  std::vector<BatchWriteTable> unprocessed;
  std::vector<ConsumedCapacity> consumed_capacity;
  struct TableMetrics {
    std::string table_name;
    std::vector<ItemCollectionMetrics> metrics;
  };
  std::vector<TableMetrics> item_collection_metrics;
};

}  // namespace postino::store
