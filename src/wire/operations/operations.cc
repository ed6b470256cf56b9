// The list of all operations: what is here can be called, and nothing else.
#include <algorithm>
#include <array>

#include "wire/operations/backup_operations.h"
#include "wire/operations/batch_operations.h"
#include "wire/operations/export_operations.h"
#include "wire/operations/import_operations.h"
#include "wire/operations/insight_operations.h"
#include "wire/operations/item_operations.h"
#include "wire/operations/page_operations.h"
#include "wire/operations/policy_operations.h"
#include "wire/operations/replication_operations.h"
#include "wire/operations/settings_operations.h"
#include "wire/operations/statement_operations.h"
#include "wire/operations/stream_operations.h"
#include "wire/operations/table_operations.h"
#include "wire/operations/transaction_operations.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

namespace {

constexpr std::string_view data_prefix = "DynamoDB_20120810.";
constexpr std::string_view streams_prefix = "DynamoDBStreams_20120810.";
constexpr std::string_view streams_api = "DynamoDBStreams";

// The most frequent first.
constexpr auto operations = std::to_array<Operation>({
    operation<GetItem>(Plane::data),
    operation<PutItem>(Plane::data),
    operation<UpdateItem>(Plane::data),
    operation<Query>(Plane::data),
    operation<TransactWriteItems>(Plane::data),
    operation<DeleteItem>(Plane::data),
    operation<BatchGetItem>(Plane::data),
    operation<BatchWriteItem>(Plane::data),
    operation<TransactGetItems>(Plane::data),
    operation<Scan>(Plane::data),
    operation<ExecuteStatement>(Plane::data),
    operation<ExecuteTransaction>(Plane::data),
    operation<BatchExecuteStatement>(Plane::data),
    operation<DescribeTable>(Plane::control),
    operation<ListTables>(Plane::control),
    operation<CreateTable>(Plane::control),
    operation<UpdateTable>(Plane::control),
    operation<DeleteTable>(Plane::control),
    operation<DescribeTimeToLive>(Plane::control),
    operation<UpdateTimeToLive>(Plane::control),
    operation<DescribeContinuousBackups>(Plane::control),
    operation<UpdateContinuousBackups>(Plane::control),
    operation<RestoreTableToPointInTime>(Plane::control),
    operation<CreateBackup>(Plane::control),
    operation<DescribeBackup>(Plane::control),
    operation<ListBackups>(Plane::control),
    operation<DeleteBackup>(Plane::control),
    operation<RestoreTableFromBackup>(Plane::control),
    operation<ExportTableToPointInTime>(Plane::control),
    operation<DescribeExport>(Plane::control),
    operation<ListExports>(Plane::control),
    operation<ImportTable>(Plane::control),
    operation<DescribeImport>(Plane::control),
    operation<ListImports>(Plane::control),
    operation<TagResource>(Plane::control),
    operation<UntagResource>(Plane::control),
    operation<ListTagsOfResource>(Plane::control),
    operation<PutResourcePolicy>(Plane::control),
    operation<GetResourcePolicy>(Plane::control),
    operation<DeleteResourcePolicy>(Plane::control),
    operation<UpdateContributorInsights>(Plane::control),
    operation<DescribeContributorInsights>(Plane::control),
    operation<ListContributorInsights>(Plane::control),
    operation<DescribeKinesisStreamingDestination>(Plane::control),
    operation<EnableKinesisStreamingDestination>(Plane::control),
    operation<DisableKinesisStreamingDestination>(Plane::control),
    operation<UpdateKinesisStreamingDestination>(Plane::control),
    operation<DescribeTableReplicaAutoScaling>(Plane::control),
    operation<UpdateTableReplicaAutoScaling>(Plane::control),
    operation<ListGlobalTables>(Plane::control),
    operation<DescribeGlobalTable>(Plane::control),
    operation<CreateGlobalTable>(Plane::control),
    operation<UpdateGlobalTable>(Plane::control),
    operation<DescribeGlobalTableSettings>(Plane::control),
    operation<UpdateGlobalTableSettings>(Plane::control),
    operation<DescribeLimits>(Plane::control),
    operation<DescribeEndpoints>(Plane::control),
    operation<GetRecords>(Plane::data, streams_api),
    operation<GetShardIterator>(Plane::data, streams_api),
    operation<DescribeStream>(Plane::control, streams_api),
    operation<ListStreams>(Plane::control, streams_api),
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

Reply too_many_long_calls() {
  return failure({store::ErrorType::request_limit_exceeded,
                  "Too many calls that take long are under way: please try again shortly."});
}

Reply too_many_unread_answers() {
  return failure({store::ErrorType::request_limit_exceeded,
                  "Too many answers have not been taken by their clients: please try again shortly."});
}

std::size_t operation_count() { return operations.size(); }
const Operation& operation_at(std::size_t index) { return operations.at(index); }
std::size_t index_of(const Operation& operation) { return static_cast<std::size_t>(&operation - operations.data()); }

}  // namespace postino::wire
