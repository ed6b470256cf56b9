// What answers tell beside their result.
#pragma once

#include <vector>

#include "remote/protocol/answer_reader.h"
#include "store/item_operations.h"

namespace postino::remote {

bool read_capacity(AnswerReader& reader, AnswerReader::Json json, store::ConsumedCapacity& out);
bool read_capacity_list(AnswerReader& reader, AnswerReader::Json json, std::vector<store::ConsumedCapacity>& out);
bool read_collection_metrics(AnswerReader& reader, AnswerReader::Json json, store::ItemCollectionMetrics& out);
// By table, as batches and transactions have them.
bool read_table_metrics(AnswerReader& reader, AnswerReader::Json json,
                        std::vector<store::BatchWriteItemResponse::TableMetrics>& out);

}  // namespace postino::remote
