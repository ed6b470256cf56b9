// What AWS does between regions, and into Kinesis: there is none of it on one machine. What asks about it is answered
// that there is none; what wants it is refused with the reason.
#pragma once

#include "wire/operations/table_operations.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

// Nothing: the operations below never succeed with more than a table's name.
struct StreamingDestination {
  using Input = TableNameInput;
  using Request = std::string;
  using Response = std::string;
  static store::Answer<Request> decode(Input input);
};

struct DescribeKinesisStreamingDestination : StreamingDestination {
  static constexpr std::string_view name = "DescribeKinesisStreamingDestination";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// They have no answer that is not a refusal.
struct RefusedDestination : StreamingDestination {
  static void encode(JsonWriter&, const Response&, const Reporting&) {}
};
struct EnableKinesisStreamingDestination : RefusedDestination {
  static constexpr std::string_view name = "EnableKinesisStreamingDestination";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};
struct DisableKinesisStreamingDestination : RefusedDestination {
  static constexpr std::string_view name = "DisableKinesisStreamingDestination";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};
struct UpdateKinesisStreamingDestination : RefusedDestination {
  static constexpr std::string_view name = "UpdateKinesisStreamingDestination";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DescribeTableReplicaAutoScaling : StreamingDestination {
  static constexpr std::string_view name = "DescribeTableReplicaAutoScaling";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};
struct UpdateTableReplicaAutoScaling : RefusedDestination {
  static constexpr std::string_view name = "UpdateTableReplicaAutoScaling";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

// Global tables of the first kind, which have operations of their own.
struct GlobalTableInput {
  std::optional<std::string> global_table_name;
};
template <>
struct Shape<GlobalTableInput> {
  static constexpr std::string_view name = "GlobalTableInput";
  using T = GlobalTableInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::global_table_name>("GlobalTableName")});
};
struct GlobalTable {
  using Input = GlobalTableInput;
  using Request = std::string;
  using Response = std::string;
  static store::Answer<Request> decode(Input input);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter&, const Response&, const Reporting&) {}
};
struct CreateGlobalTable : GlobalTable {
  static constexpr std::string_view name = "CreateGlobalTable";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};
struct UpdateGlobalTable : GlobalTable {
  static constexpr std::string_view name = "UpdateGlobalTable";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
};
struct DescribeGlobalTable : GlobalTable {
  static constexpr std::string_view name = "DescribeGlobalTable";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
};
struct DescribeGlobalTableSettings : GlobalTable {
  static constexpr std::string_view name = "DescribeGlobalTableSettings";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
};
struct UpdateGlobalTableSettings : GlobalTable {
  static constexpr std::string_view name = "UpdateGlobalTableSettings";
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
};
struct ListGlobalTables {
  static constexpr std::string_view name = "ListGlobalTables";
  struct Input {};
  using Request = Input;
  using Response = Input;
  static store::Answer<Request> decode(Input) { return Request(); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.nothing(access::action_named(name));
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};
template <>
struct Shape<ListGlobalTables::Input> {
  static constexpr std::string_view name = "ListGlobalTablesInput";
  static constexpr std::array<Member<ListGlobalTables::Input>, 0> members{};
};

}  // namespace postino::wire
