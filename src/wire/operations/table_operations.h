// CreateTable, DescribeTable, UpdateTable, DeleteTable, ListTables.
#pragma once

#include "wire/protocol/operation.h"
#include "wire/protocol/table_inputs.h"

namespace postino::wire {

struct TableNameInput {
  std::optional<std::string> table_name;
};
template <>
struct Shape<TableNameInput> {
  static constexpr std::string_view name = "TableNameInput";
  using T = TableNameInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::table_name>("TableName")});
};

struct ListTablesInput {
  std::optional<std::string> exclusive_start_table_name;
  std::optional<std::int32_t> limit;
};
template <>
struct Shape<ListTablesInput> {
  static constexpr std::string_view name = "ListTablesInput";
  using T = ListTablesInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::exclusive_start_table_name>("ExclusiveStartTableName"),
      member<T, &T::limit>("Limit"),
  });
};

// The table that an operation on tables is about, by name or ARN. What happens when it is missing differs.
store::Answer<std::string> required_table(std::optional<std::string> table_name);

// Changes of tables wait for the disk, and so run on the control thread.
template <class Response, class Call>
void run_on_control_thread(const Services& services, const store::Completion<Response>& done, Call call) {
  if (!services.control->try_submit([done, call = std::move(call)] { done(call()); }))
    done(store::refuse(store::ErrorType::throttling, "Rate exceeded"));
}

// What the answers of changes have in common.
struct ChangeTable {
  using Response = store::TableDescription;
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct CreateTable : ChangeTable {
  static constexpr std::string_view name = "CreateTable";
  using Input = TableInput;
  using Request = store::CreateTableRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct UpdateTable : ChangeTable {
  static constexpr std::string_view name = "UpdateTable";
  using Input = TableInput;
  using Request = store::UpdateTableRequest;
  static store::Answer<Request> decode(Input input) { return decode_update_table(std::move(input)); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request.table_name);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DeleteTable : ChangeTable {
  static constexpr std::string_view name = "DeleteTable";
  using Input = TableNameInput;
  using Request = std::string;
  static store::Answer<Request> decode(Input input) { return required_table(std::move(input.table_name)); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeTable {
  static constexpr std::string_view name = "DescribeTable";
  using Input = TableNameInput;
  using Request = std::string;
  using Response = store::TableDescription;
  static store::Answer<Request> decode(Input input) { return required_table(std::move(input.table_name)); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ListTables {
  static constexpr std::string_view name = "ListTables";
  using Input = ListTablesInput;
  using Request = store::ListTablesRequest;
  using Response = store::ListTablesResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.table(access::action_named(name), "*");
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
