// Requests and answers as a person reads them when a test has failed.
#pragma once

#include <string>

#include "store/store.h"

namespace postino::model {

std::string text_of(const store::PutItemRequest& request);
std::string text_of(const store::UpdateItemRequest& request);
std::string text_of(const store::DeleteItemRequest& request);
std::string text_of(const store::GetItemRequest& request);
std::string text_of(const store::TransactWriteItemsRequest& request);
std::string text_of(const store::TransactGetItemsRequest& request);
std::string text_of(const store::BatchWriteItemRequest& request);
std::string text_of(const store::BatchGetItemRequest& request);
std::string text_of(const store::QueryRequest& request);
std::string text_of(const store::ScanRequest& request);
std::string text_of(const store::CreateTableRequest& request);
std::string text_of(const store::GlobalIndexDefinition& index);
std::string text_of(const store::StreamRecord& record);

std::string text_of(const std::optional<item::Item>& item);
std::string text_of(const std::vector<item::Item>& items);
std::string text_of(const store::Error& error);

}  // namespace postino::model
