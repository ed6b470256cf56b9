// Bodies of DynamoDB's answers as answers of the store. malformed when one is not of the protocol: the message says
// what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/item_operations.h"
#include "store/stream.h"
#include "store/table_operations.h"
#include "store/transaction.h"

namespace postino::remote {

// Capacity is told with each answer that has it; what the caller asked for is for others to cut.
base::Result<store::GetItemResponse> decode_get_item(std::string body);
base::Result<store::WriteItemResponse> decode_write_item(std::string body);
base::Result<store::PageResponse> decode_page(std::string body);
// The tables are those of the request, in its order.
base::Result<store::BatchGetItemResponse> decode_batch_get(std::string body,
                                                           const std::vector<store::BatchGetTable>& requested);
base::Result<store::BatchWriteItemResponse> decode_batch_write(std::string body);
base::Result<store::TransactGetItemsResponse> decode_transact_get(std::string body);
base::Result<store::TransactWriteItemsResponse> decode_transact_write(std::string body);

// Of all operations that answer with a description, whatever the member is called.
base::Result<store::TableDescription> decode_table(std::string body);
base::Result<store::ListTablesResponse> decode_list_tables(std::string body);
base::Result<store::TimeToLiveSpecification> decode_time_to_live_specification(std::string body);
base::Result<store::TimeToLiveDescription> decode_time_to_live(std::string body);
base::Result<store::PointInTimeRecoveryDescription> decode_recovery(std::string body);
base::Result<store::ListTagsResponse> decode_tags(std::string body);

base::Result<store::ListStreamsResponse> decode_list_streams(std::string body);
base::Result<store::StreamDescription> decode_stream(std::string body);
base::Result<std::string> decode_shard_iterator(std::string body);
base::Result<store::GetRecordsResponse> decode_records(std::string body);

}  // namespace postino::remote
