// Requests and answers of transactions: all actions or none, serializable.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "store/item_operations.h"

namespace postino::store {

inline constexpr std::size_t max_transaction_actions = 100;
inline constexpr std::size_t max_transaction_bytes = 4 * 1'048'576;
inline constexpr std::size_t max_client_request_token_length = 36;
inline constexpr base::Milliseconds client_request_token_life = std::chrono::minutes(10);

struct TransactPut {
  std::string table_name;
  item::Item item;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  bool return_item_on_failure = false;
};
struct TransactUpdate {
  std::string table_name;
  item::Key key;
  std::optional<UpdateExpression> update;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  bool return_item_on_failure = false;
};
struct TransactDelete {
  std::string table_name;
  item::Key key;
  std::optional<ConditionExpression> condition;
  expr::Placeholders placeholders;
  bool return_item_on_failure = false;
};
struct TransactConditionCheck {
  std::string table_name;
  item::Key key;
  std::optional<ConditionExpression> condition;  // required
  expr::Placeholders placeholders;
  bool return_item_on_failure = false;
};
using TransactAction = std::variant<TransactPut, TransactUpdate, TransactDelete, TransactConditionCheck>;

struct TransactWriteItemsRequest {
  std::vector<TransactAction> actions;
  // Makes a repeat within ten minutes succeed without being applied again.
  std::optional<std::string> client_request_token;
  WriteReport report;
};
struct TransactWriteItemsResponse {
  std::vector<ConsumedCapacity> consumed_capacity;
  std::vector<BatchWriteItemResponse::TableMetrics> item_collection_metrics;
};

struct TransactGet {
  std::string table_name;
  item::Key key;
  std::optional<ProjectionExpression> projection;
  expr::Placeholders placeholders;
};
struct TransactGetItemsRequest {
  std::vector<TransactGet> gets;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::none;
  ReadAllowance* allowance = nullptr;  // of the caller; nullptr: as much as it takes
};
struct TransactGetItemsResponse {
  std::vector<std::optional<item::Item>> items;  // in the order of the request
  std::vector<ConsumedCapacity> consumed_capacity;
};

}  // namespace postino::store
