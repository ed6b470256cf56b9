// Requests of the store as bodies of DynamoDB's protocol. Consumed capacity is asked for in every one that can report
// it, whatever the caller wants to know.
#pragma once

#include <string>
#include <vector>

#include "store/item_operations.h"
#include "store/stream.h"
#include "store/table_operations.h"
#include "store/transaction.h"

namespace postino::remote {

std::string encode(const store::GetItemRequest& request);
std::string encode(const store::PutItemRequest& request);
std::string encode(const store::UpdateItemRequest& request);
std::string encode(const store::DeleteItemRequest& request);
std::string encode(const store::QueryRequest& request);
std::string encode(const store::ScanRequest& request);
std::string encode(const store::BatchGetItemRequest& request);
std::string encode(const store::BatchWriteItemRequest& request);
std::string encode(const store::TransactGetItemsRequest& request);
std::string encode(const store::TransactWriteItemsRequest& request);

std::string encode(const store::CreateTableRequest& request);
std::string encode(const store::UpdateTableRequest& request);
std::string encode(const store::ListTablesRequest& request);
// DescribeTable and all others that only name a table.
std::string encode_table_name(const std::string& table_name);
std::string encode_time_to_live(const std::string& table_name, const store::TimeToLiveSpecification& specification);
std::string encode_recovery(const std::string& table_name,
                            const store::PointInTimeRecoverySpecification& specification);
std::string encode(const store::RestoreToPointInTimeRequest& request);
std::string encode_tags(const std::string& arn, const std::vector<store::Tag>& tags);
std::string encode_tag_keys(const std::string& arn, const std::vector<std::string>& keys);
std::string encode_tagged_resource(const std::string& arn, const std::optional<std::string>& next_token);

std::string encode(const store::ListStreamsRequest& request);
std::string encode(const store::DescribeStreamRequest& request);
std::string encode(const store::GetShardIteratorRequest& request);
std::string encode(const store::GetRecordsRequest& request);

}  // namespace postino::remote
