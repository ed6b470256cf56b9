#include "request_builder.h"

#include <algorithm>

#include "expression_text.h"
#include "model_table.h"

namespace postino::model {

store::ReturnConsumedCapacity RequestBuilder::capacity() {
  return choice_.one_in(2) ? store::ReturnConsumedCapacity::none : store::ReturnConsumedCapacity::indexes;
}

template <class Request>
Request RequestBuilder::write_request(const WriteOperation& operation) {
  ExpressionWriter writer(choice_);
  Request request;
  request.table_name = operation.table;
  if constexpr (requires { request.item; })
    request.item = operation.subject;
  else
    request.key = operation.subject;
  if constexpr (requires { request.update; })
    if (operation.update) request.update = writer.text(*operation.update);
  if (operation.condition) request.condition = writer.text(*operation.condition);
  request.placeholders = writer.placeholders();
  request.return_item_on_failure = operation.return_item_on_failure;
  if constexpr (requires { request.return_values; }) {
    request.return_values = operation.return_values;
    request.report.consumed_capacity = capacity();
    request.report.item_collection_metrics = choice_.one_in(20);
  }
  return request;
}

store::PutItemRequest RequestBuilder::put(const WriteOperation& operation) {
  return write_request<store::PutItemRequest>(operation);
}
store::UpdateItemRequest RequestBuilder::update(const WriteOperation& operation) {
  return write_request<store::UpdateItemRequest>(operation);
}
store::DeleteItemRequest RequestBuilder::remove(const WriteOperation& operation) {
  return write_request<store::DeleteItemRequest>(operation);
}

store::GetItemRequest RequestBuilder::get(const GetOperation& operation) {
  ExpressionWriter writer(choice_);
  store::GetItemRequest request;
  request.table_name = operation.table;
  request.key = operation.key;
  if (operation.projection) request.projection = writer.text(*operation.projection);
  request.placeholders = writer.placeholders();
  request.consistent_read = choice_.one_in(2);
  request.return_consumed_capacity = capacity();
  return request;
}

store::TransactWriteItemsRequest RequestBuilder::transaction(const TransactionOperation& operation) {
  store::TransactWriteItemsRequest request;
  request.client_request_token = operation.token;
  request.report.consumed_capacity = capacity();
  for (const WriteOperation& write : operation.writes) {
    if (write.kind == WriteOperation::Kind::put)
      request.actions.emplace_back(write_request<store::TransactPut>(write));
    else if (write.kind == WriteOperation::Kind::update)
      request.actions.emplace_back(write_request<store::TransactUpdate>(write));
    else if (write.kind == WriteOperation::Kind::remove)
      request.actions.emplace_back(write_request<store::TransactDelete>(write));
    else
      request.actions.emplace_back(write_request<store::TransactConditionCheck>(write));
  }
  return request;
}

store::TransactGetItemsRequest RequestBuilder::transaction(const std::vector<GetOperation>& operations) {
  store::TransactGetItemsRequest request;
  request.return_consumed_capacity = capacity();
  for (const GetOperation& operation : operations) {
    ExpressionWriter writer(choice_);
    store::TransactGet& get = request.gets.emplace_back();
    get.table_name = operation.table;
    get.key = operation.key;
    if (operation.projection) get.projection = writer.text(*operation.projection);
    get.placeholders = writer.placeholders();
  }
  return request;
}

store::BatchWriteItemRequest RequestBuilder::batch(const std::vector<WriteOperation>& operations) {
  store::BatchWriteItemRequest request;
  request.report.consumed_capacity = capacity();
  for (const WriteOperation& operation : operations) {
    auto table = std::ranges::find(request.tables, operation.table, &store::BatchWriteTable::table_name);
    if (table == request.tables.end()) table = request.tables.insert(table, {operation.table, {}});
    if (operation.kind == WriteOperation::Kind::put)
      table->writes.emplace_back(store::BatchPut{operation.subject});
    else
      table->writes.emplace_back(store::BatchDelete{operation.subject});
  }
  return request;
}

store::BatchGetItemRequest RequestBuilder::batch(const std::vector<GetOperation>& operations) {
  store::BatchGetItemRequest request;
  request.return_consumed_capacity = capacity();
  for (const GetOperation& operation : operations) {
    auto table = std::ranges::find(request.tables, operation.table, &store::BatchGetTable::table_name);
    if (table == request.tables.end()) {
      ExpressionWriter writer(choice_);
      store::BatchGetTable added;
      added.table_name = operation.table;
      if (operation.projection) added.projection = writer.text(*operation.projection);
      added.placeholders = writer.placeholders();
      added.consistent_read = choice_.one_in(2);
      table = request.tables.insert(table, std::move(added));
    }
    table->keys.push_back(operation.key);
  }
  return request;
}

std::string RequestBuilder::key_condition_text(const PageOperation& operation, const ModelTable& table,
                                               ExpressionWriter& writer) {
  const ModelIndex* index = operation.index ? table.find_index(*operation.index) : nullptr;
  std::vector<std::string> names = index == nullptr ? table.keys() : index->keys();
  const KeyCondition& key = *operation.key;
  KeyValues equal = key.hash;
  equal.insert(equal.end(), key.equal_ranges.begin(), key.equal_ranges.end());
  std::vector<std::string> conjuncts;
  for (std::size_t i = 0; i < equal.size(); ++i) {
    const std::string name = writer.path_text({names[i]});
    const std::string value = writer.value_text(equal[i]);
    conjuncts.push_back(choice_.one_in(4) ? value + " = " + name : name + " = " + value);
  }
  if (key.last) {
    static const std::string words[] = {" = ", " < ", " <= ", " > ", " >= "};
    const std::string name = writer.path_text({names[equal.size()]});
    const std::string first = writer.value_text(key.last_operands[0]);
    if (*key.last == KeyOperator::between)
      conjuncts.push_back(name + " BETWEEN " + first + " AND " + writer.value_text(key.last_operands[1]));
    else if (*key.last == KeyOperator::begins_with)
      conjuncts.push_back("begins_with(" + name + ", " + first + ")");
    else
      conjuncts.push_back(name + words[static_cast<int>(*key.last)] + first);
  }
  if (choice_.one_in(4)) std::ranges::reverse(conjuncts);
  std::string text;
  for (const std::string& conjunct : conjuncts) text += (text.empty() ? "" : " AND ") + conjunct;
  return text;
}

template <class Request>
void RequestBuilder::fill_page(const PageOperation& operation, ExpressionWriter& writer, Request& request) {
  request.table_name = operation.table;
  request.index_name = operation.index;
  if (operation.filter) request.filter = writer.text(*operation.filter);
  if (operation.projection) request.projection = writer.text(*operation.projection);
  request.placeholders = writer.placeholders();
  request.select = operation.select;
  request.limit = operation.limit;
  request.exclusive_start_key = operation.start;
  request.consistent_read = operation.consistent;
  request.return_consumed_capacity = capacity();
}

store::QueryRequest RequestBuilder::query(const PageOperation& operation, const ModelTable& table) {
  ExpressionWriter writer(choice_);
  store::QueryRequest request;
  request.key_condition = key_condition_text(operation, table, writer);
  request.forward = operation.forward;
  fill_page(operation, writer, request);
  return request;
}

store::ScanRequest RequestBuilder::scan(const PageOperation& operation) {
  ExpressionWriter writer(choice_);
  store::ScanRequest request;
  fill_page(operation, writer, request);
  return request;
}

}  // namespace postino::model
