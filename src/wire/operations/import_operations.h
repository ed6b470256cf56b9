// ImportTable, DescribeImport, ListImports.
#pragma once

#include "wire/operations/transfer_services.h"

namespace postino::wire {

struct BucketSourceInput {
  std::optional<std::string> bucket;
  std::optional<std::string> bucket_owner;
  std::optional<std::string> prefix;
};
template <>
struct Shape<BucketSourceInput> {
  static constexpr std::string_view name = "S3BucketSource";
  using T = BucketSourceInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::bucket>("S3Bucket"),
      member<T, &T::bucket_owner>("S3BucketOwner"),
      member<T, &T::prefix>("S3KeyPrefix"),
  });
};

struct CsvInput {
  std::optional<std::string> delimiter;
  std::optional<std::vector<std::string>> header;
};
template <>
struct Shape<CsvInput> {
  static constexpr std::string_view name = "CsvOptions";
  using T = CsvInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::delimiter>("Delimiter"),
      member<T, &T::header>("HeaderList"),
  });
};
struct FormatOptionsInput {
  std::optional<CsvInput> csv;
};
template <>
struct Shape<FormatOptionsInput> {
  static constexpr std::string_view name = "InputFormatOptions";
  using T = FormatOptionsInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::csv>("Csv")});
};

struct ImportInput {
  std::optional<std::string> token;
  std::optional<BucketSourceInput> source;
  std::optional<std::string> format;
  std::optional<FormatOptionsInput> format_options;
  std::optional<std::string> packing;
  std::optional<TableInput> table;
};
template <>
struct Shape<ImportInput> {
  static constexpr std::string_view name = "ImportTableInput";
  using T = ImportInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::token>("ClientToken"),
      member<T, &T::source>("S3BucketSource"),
      member<T, &T::format>("InputFormat"),
      member<T, &T::format_options>("InputFormatOptions"),
      member<T, &T::packing>("InputCompressionType"),
      member<T, &T::table>("TableCreationParameters"),
  });
};

struct ImportArnInput {
  std::optional<std::string> arn;
};
template <>
struct Shape<ImportArnInput> {
  static constexpr std::string_view name = "DescribeImportInput";
  using T = ImportArnInput;
  static constexpr auto members = std::to_array<Member<T>>({member<T, &T::arn>("ImportArn")});
};

struct ListImportsInput {
  std::optional<std::string> table_arn;
  std::optional<std::int32_t> most;
  std::optional<std::string> next;
};
template <>
struct Shape<ListImportsInput> {
  static constexpr std::string_view name = "ListImportsInput";
  using T = ListImportsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_arn>("TableArn"),
      member<T, &T::most>("PageSize"),
      member<T, &T::next>("NextToken"),
  });
};

struct OneImport {
  using Response = exchange::ImportDescription;
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ImportTable : OneImport {
  static constexpr std::string_view name = "ImportTable";
  using Input = ImportInput;
  using Request = exchange::ImportRequest;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request.table.table_name);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DescribeImport : OneImport {
  static constexpr std::string_view name = "DescribeImport";
  using Input = ImportArnInput;
  using Request = std::string;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct ListImports {
  static constexpr std::string_view name = "ListImports";
  using Input = ListImportsInput;
  using Request = exchange::ListTransfersRequest;
  using Response = exchange::TransferList<exchange::ImportDescription>;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.table(access::action_named(name), "*");
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
