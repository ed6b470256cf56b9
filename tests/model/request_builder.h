// Turns the model's operations into requests to the store.
#pragma once

#include "choice.h"
#include "operation.h"
#include "store/store.h"

namespace postino::model {

struct ModelTable;
struct ModelIndex;

class RequestBuilder {
 public:
  explicit RequestBuilder(Choice& choice) : choice_(choice) {}

  store::PutItemRequest put(const WriteOperation& operation);
  store::UpdateItemRequest update(const WriteOperation& operation);
  store::DeleteItemRequest remove(const WriteOperation& operation);
  store::GetItemRequest get(const GetOperation& operation);
  store::TransactWriteItemsRequest transaction(const TransactionOperation& operation);
  store::TransactGetItemsRequest transaction(const std::vector<GetOperation>& operations);
  store::BatchWriteItemRequest batch(const std::vector<WriteOperation>& operations);
  // All operations on one table must have the same projection.
  store::BatchGetItemRequest batch(const std::vector<GetOperation>& operations);
  store::QueryRequest query(const PageOperation& operation, const ModelTable& table);
  store::ScanRequest scan(const PageOperation& operation);

 private:
  template <class Request>
  Request write_request(const WriteOperation& operation);
  template <class Request>
  void fill_page(const PageOperation& operation, class ExpressionWriter& writer, Request& request);
  std::string key_condition_text(const PageOperation& operation, const ModelTable& table, ExpressionWriter& writer);
  store::ReturnConsumedCapacity capacity();

  Choice& choice_;
};

store::CreateTableRequest create_request(const ModelTable& table);
store::GlobalIndexDefinition global_definition(const ModelIndex& index);
std::vector<store::AttributeDefinition> definitions_of(const ModelTable& table, const std::vector<std::string>& names);

}  // namespace postino::model
