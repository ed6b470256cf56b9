// The list of all operations: what is here can be called, and nothing else.
#include <algorithm>
#include <array>

#include "wire/batch_operations.h"
#include "wire/item_operations.h"
#include "wire/operation.h"
#include "wire/page_operations.h"
#include "wire/settings_operations.h"
#include "wire/statement_operations.h"
#include "wire/stream_operations.h"
#include "wire/table_operations.h"
#include "wire/transaction_operations.h"

namespace postino::wire {

namespace {

constexpr std::string_view data_prefix = "DynamoDB_20120810.";
constexpr std::string_view streams_prefix = "DynamoDBStreams_20120810.";
constexpr std::string_view streams_api = "DynamoDBStreams";

// The most frequent first.
constexpr auto operations = std::to_array<Operation>({
    operation<GetItem>(),
    operation<PutItem>(),
    operation<UpdateItem>(),
    operation<Query>(),
    operation<TransactWriteItems>(),
    operation<DeleteItem>(),
    operation<BatchGetItem>(),
    operation<BatchWriteItem>(),
    operation<TransactGetItems>(),
    operation<Scan>(),
    operation<ExecuteStatement>(),
    operation<ExecuteTransaction>(),
    operation<BatchExecuteStatement>(),
    operation<DescribeTable>(),
    operation<ListTables>(),
    operation<CreateTable>(),
    operation<UpdateTable>(),
    operation<DeleteTable>(),
    operation<DescribeTimeToLive>(),
    operation<UpdateTimeToLive>(),
    operation<DescribeContinuousBackups>(),
    operation<UpdateContinuousBackups>(),
    operation<TagResource>(),
    operation<UntagResource>(),
    operation<ListTagsOfResource>(),
    operation<DescribeLimits>(),
    operation<DescribeEndpoints>(),
    operation<GetRecords>(streams_api),
    operation<GetShardIterator>(streams_api),
    operation<DescribeStream>(streams_api),
    operation<ListStreams>(streams_api),
});

}  // namespace

const Operation* find_operation(std::string_view target) {
  std::string_view api;
  std::string_view name;
  if (target.starts_with(data_prefix)) {
    api = "DynamoDB";
    name = target.substr(data_prefix.size());
  } else if (target.starts_with(streams_prefix)) {
    api = streams_api;
    name = target.substr(streams_prefix.size());
  } else {
    return nullptr;
  }
  const auto* found =
      std::ranges::find_if(operations, [&](const Operation& each) { return each.name == name && each.api == api; });
  return found == operations.end() ? nullptr : found;
}

std::size_t operation_count() { return operations.size(); }
const Operation& operation_at(std::size_t index) { return operations.at(index); }
std::size_t index_of(const Operation& operation) { return static_cast<std::size_t>(&operation - operations.data()); }

}  // namespace postino::wire
