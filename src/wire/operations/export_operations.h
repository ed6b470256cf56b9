// ExportTableToPointInTime, DescribeExport, ListExports.
#pragma once

#include "wire/operations/transfer_services.h"

namespace postino::wire {

struct IncrementalInput {
  std::optional<base::TimePoint> from;
  std::optional<base::TimePoint> to;
  std::optional<std::string> view;
};
template <>
struct Shape<IncrementalInput> {
  static constexpr std::string_view name = "IncrementalExportSpecification";
  using T = IncrementalInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::from>("ExportFromTime"),
      member<T, &T::to>("ExportToTime"),
      member<T, &T::view>("ExportViewType"),
  });
};

struct ExportInput {
  std::optional<std::string> table_arn;
  std::optional<base::TimePoint> time;
  std::optional<std::string> token;
  std::optional<std::string> bucket;
  std::optional<std::string> bucket_owner;
  std::optional<std::string> prefix;
  std::optional<std::string> encryption;
  std::optional<std::string> encryption_key;
  std::optional<std::string> format;
  std::optional<std::string> type;
  std::optional<IncrementalInput> incremental;
};
template <>
struct Shape<ExportInput> {
  static constexpr std::string_view name = "ExportTableToPointInTimeInput";
  using T = ExportInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_arn>("TableArn"),
      member<T, &T::time>("ExportTime"),
      member<T, &T::token>("ClientToken"),
      member<T, &T::bucket>("S3Bucket"),
      member<T, &T::bucket_owner>("S3BucketOwner"),
      member<T, &T::prefix>("S3Prefix"),
      member<T, &T::encryption>("S3SseAlgorithm"),
      member<T, &T::encryption_key>("S3SseKmsKeyId"),
      member<T, &T::format>("ExportFormat"),
      member<T, &T::type>("ExportType"),
      member<T, &T::incremental>("IncrementalExportSpecification"),
  });
};

struct ExportArnInput {
  std::optional<std::string> arn;
};
template <>
struct Shape<ExportArnInput> {
  static constexpr std::string_view name = "DescribeExportInput";
  using T = ExportArnInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::arn>("ExportArn")});
};

struct ListExportsInput {
  std::optional<std::string> table_arn;
  std::optional<std::int32_t> most;
  std::optional<std::string> next;
};
template <>
struct Shape<ListExportsInput> {
  static constexpr std::string_view name = "ListExportsInput";
  using T = ListExportsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_arn>("TableArn"),
      member<T, &T::most>("MaxResults"),
      member<T, &T::next>("NextToken"),
  });
};

struct OneExport {
  using Response = exchange::ExportDescription;
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ExportTableToPointInTime : OneExport {
  static constexpr std::string_view name = "ExportTableToPointInTime";
  using Input = ExportInput;
  using Request = exchange::ExportRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.table_arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DescribeExport : OneExport {
  static constexpr std::string_view name = "DescribeExport";
  using Input = ExportArnInput;
  using Request = std::string;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct ListExports {
  static constexpr std::string_view name = "ListExports";
  using Input = ListExportsInput;
  using Request = exchange::ListTransfersRequest;
  using Response = exchange::TransferList<exchange::ExportDescription>;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.table(access::action_named(name), "*");
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
