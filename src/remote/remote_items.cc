// Single items, pages and transactions.
#include <algorithm>

#include "remote/asking.h"
#include "remote/own_success.h"
#include "remote/protocol/answers.h"
#include "remote/protocol/requests.h"
#include "remote/remote_store.h"

namespace postino::remote {

namespace {

template <class Request>
store::Answer<store::WriteItemResponse> write_item(Caller& caller, std::string_view operation, const Request& request) {
  Call call{.operation = operation, .table = request.table_name, .body = encode(request)};
  call.is_repeatable = is_repeatable(request);
  if (request.condition && !request.return_item_on_failure)
    call.body_of_repeat = [&request] {
      Request repeat = request;
      repeat.return_item_on_failure = true;
      return encode(repeat);
    };
  auto asked = ask(caller, call, decode_write_item);
  if (!asked.answer && asked.may_be_done && asked.answer.error().type == store::ErrorType::conditional_check_failed)
    if (auto response = own_success(request, asked.answer.error())) return *std::move(response);
  auto answer = settled(std::move(asked));
  if (answer)
    report_capacity(caller, operation, Units::write, request.report.consumed_capacity, answer->consumed_capacity);
  return answer;
}

template <class Request>
store::Answer<store::PageResponse> read_page(Caller& caller, std::string_view operation, const Request& request) {
  if (is_given_up(request.allowance)) return store::read_given_up();
  const Call call{.operation = operation, .table = request.table_name, .body = encode(request)};
  auto answer = ask(caller, call, decode_page).answer;
  if (answer)
    report_capacity(caller, operation, Units::read, request.return_consumed_capacity, answer->consumed_capacity);
  return answer;
}

std::string first_table(const store::TransactWriteItemsRequest& request) {
  if (request.actions.empty()) return "";
  return std::visit([](const auto& action) { return action.table_name; }, request.actions.front());
}

}  // namespace

store::Answer<store::GetItemResponse> RemoteStore::get_item(const store::GetItemRequest& request) {
  if (is_given_up(request.allowance)) return store::read_given_up();
  const Call call{.operation = "GetItem", .table = request.table_name, .body = encode(request)};
  auto answer = ask(*caller_, call, decode_get_item).answer;
  if (answer)
    report_capacity(*caller_, call.operation, Units::read, request.return_consumed_capacity, answer->consumed_capacity);
  return answer;
}

store::Answer<store::WriteItemResponse> RemoteStore::put_item(const store::PutItemRequest& request) {
  return write_item(*caller_, "PutItem", request);
}

store::Answer<store::WriteItemResponse> RemoteStore::update_item(const store::UpdateItemRequest& request) {
  return write_item(*caller_, "UpdateItem", request);
}

store::Answer<store::WriteItemResponse> RemoteStore::delete_item(const store::DeleteItemRequest& request) {
  return write_item(*caller_, "DeleteItem", request);
}

store::Answer<store::PageResponse> RemoteStore::query(const store::QueryRequest& request) {
  return read_page(*caller_, "Query", request);
}

store::Answer<store::PageResponse> RemoteStore::scan(const store::ScanRequest& request) {
  return read_page(*caller_, "Scan", request);
}

store::Answer<store::TransactGetItemsResponse> RemoteStore::transact_get_items(
    const store::TransactGetItemsRequest& request) {
  if (is_given_up(request.allowance)) return store::read_given_up();
  const std::string table = request.gets.empty() ? "" : request.gets.front().table_name;
  const Call call{.operation = "TransactGetItems", .table = table, .body = encode(request)};
  auto answer = ask(*caller_, call, decode_transact_get).answer;
  if (answer)
    report_capacity(*caller_, call.operation, Units::read, request.return_consumed_capacity, answer->consumed_capacity);
  return answer;
}

store::Answer<store::TransactWriteItemsResponse> RemoteStore::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  Call call{.operation = "TransactWriteItems", .table = first_table(request)};
  if (request.client_request_token) {
    call.body = encode(request);
  } else {
    // The same for all attempts: what is sent again is then done once.
    store::TransactWriteItemsRequest with_token = request;
    with_token.client_request_token = base::make_uuid(random_);
    call.body = encode(with_token);
  }
  // With the token, the service knows an attempt that was done: what it says then is the truth.
  auto answer = ask(*caller_, call, decode_transact_write).answer;
  if (answer)
    report_capacity(*caller_, call.operation, Units::write, request.report.consumed_capacity,
                    answer->consumed_capacity);
  return answer;
}

}  // namespace postino::remote
