#include "wire/operations/export_operations.h"

#include "store/constraints.h"

namespace postino::wire {

namespace {

constexpr int most_listed_transfers = 25;

std::string_view view_word(exchange::ExportView view) {
  return view == exchange::ExportView::new_image ? "NEW_IMAGE" : "NEW_AND_OLD_IMAGES";
}
std::string_view type_word(const exchange::ExportRequest& request) {
  return request.is_incremental ? "INCREMENTAL_EXPORT" : "FULL_EXPORT";
}

store::Answer<void> check_export(const ExportInput& input) {
  store::Constraints constraints;
  constraints.check_not_null("tableArn", input.table_arn.has_value());
  constraints.check_not_null("s3Bucket", input.bucket.has_value());
  constexpr std::size_t longest_bucket = 255;
  constexpr std::size_t longest_prefix = 1'024;
  if (input.bucket) constraints.check_length("s3Bucket", *input.bucket, 0, longest_bucket);
  if (input.prefix) constraints.check_length("s3Prefix", *input.prefix, 0, longest_prefix);
  const auto check_word = [&](std::string_view path, const std::optional<std::string>& word, std::string_view first,
                              std::string_view second) {
    if (word && *word != first && *word != second)
      constraints.check_one_of(path, *word, "[" + std::string(first) + ", " + std::string(second) + "]");
  };
  check_word("exportFormat", input.format, "DYNAMODB_JSON", "ION");
  check_word("exportType", input.type, "FULL_EXPORT", "INCREMENTAL_EXPORT");
  check_word("s3SseAlgorithm", input.encryption, "AES256", "KMS");
  if (input.incremental)
    check_word("incrementalExportSpecification.exportViewType", input.incremental->view, "NEW_IMAGE",
               "NEW_AND_OLD_IMAGES");
  return constraints.outcome();
}

}  // namespace

std::string_view status_word(exchange::TransferStatus status) {
  switch (status) {
    case exchange::TransferStatus::in_progress:
      return "IN_PROGRESS";
    case exchange::TransferStatus::completed:
      return "COMPLETED";
    case exchange::TransferStatus::failed:
      break;
  }
  return "FAILED";
}

std::string_view format_word(exchange::DataFormat format) {
  switch (format) {
    case exchange::DataFormat::dynamodb_json:
      return "DYNAMODB_JSON";
    case exchange::DataFormat::ion:
      return "ION";
    case exchange::DataFormat::csv:
      break;
  }
  return "CSV";
}

void write_failure(JsonWriter& json, const std::optional<exchange::Failure>& failure) {
  if (failure) json.key("FailureCode").string(failure->code).key("FailureMessage").string(failure->message);
}

void OneExport::encode(JsonWriter& json, const Response& response, const Reporting&) {
  const exchange::ExportRequest& request = response.request;
  json.begin_object().key("ExportDescription").begin_object();
  json.key("ExportArn").string(response.arn).key("ExportStatus").string(status_word(response.status));
  json.key("StartTime").time(response.started);
  if (response.ended) json.key("EndTime").time(*response.ended);
  if (!response.manifest.empty()) json.key("ExportManifest").string(response.manifest);
  json.key("TableArn").string(request.table_arn).key("TableId").string(response.table.id);
  if (!request.is_incremental) json.key("ExportTime").time(response.table.time);
  json.key("ClientToken").string(request.token).key("S3Bucket").string(request.bucket);
  if (!request.bucket_owner.empty()) json.key("S3BucketOwner").string(request.bucket_owner);
  if (!request.prefix.empty()) json.key("S3Prefix").string(request.prefix);
  json.key("S3SseAlgorithm").string(request.encryption);
  if (!request.encryption_key.empty()) json.key("S3SseKmsKeyId").string(request.encryption_key);
  write_failure(json, response.failure);
  json.key("ExportFormat").string(format_word(request.format));
  if (response.status == exchange::TransferStatus::completed)
    json.key("BilledSizeBytes").integer(response.bytes).key("ItemCount").integer(response.item_count);
  json.key("ExportType").string(type_word(request));
  if (request.is_incremental) {
    json.key("IncrementalExportSpecification").begin_object();
    json.key("ExportFromTime").time(*request.from).key("ExportToTime").time(*request.to);
    json.key("ExportViewType").string(view_word(request.view)).end_object();
  }
  json.end_object().end_object();
}

store::Answer<ExportTableToPointInTime::Request> ExportTableToPointInTime::decode(Input input) {
  TRY_VOID(check_export(input));
  Request request;
  request.table_arn = *std::move(input.table_arn);
  request.time = input.time;
  request.token = std::move(input.token).value_or("");
  request.bucket = *std::move(input.bucket);
  request.bucket_owner = std::move(input.bucket_owner).value_or("");
  request.prefix = std::move(input.prefix).value_or("");
  request.encryption = std::move(input.encryption).value_or("AES256");
  request.encryption_key = std::move(input.encryption_key).value_or("");
  if (input.format == "ION") request.format = exchange::DataFormat::ion;
  request.is_incremental = input.type == "INCREMENTAL_EXPORT";
  if (request.is_incremental != input.incremental.has_value())
    return store::refuse_invalid(
        "Invalid Request: IncrementalExportSpecification is for exports of the type INCREMENTAL_EXPORT, which need it");
  if (!request.is_incremental) return request;
  if (!input.incremental->from || !input.incremental->to)
    return store::refuse_invalid("Invalid Request: ExportFromTime and ExportToTime must be specified");
  if (request.time)
    return store::refuse_invalid("Invalid Request: ExportTime must not be specified for incremental exports");
  request.from = input.incremental->from;
  request.to = input.incremental->to;
  if (input.incremental->view == "NEW_IMAGE") request.view = exchange::ExportView::new_image;
  return request;
}

void ExportTableToPointInTime::run(const Services& services, const Request& request,
                                   const store::Completion<Response>& done) {
  begin_transfer<Response>(services, done,
                           [request](exchange::Exchange& exchange) { return exchange.export_table(request); });
}

store::Answer<std::string> DescribeExport::decode(Input input) {
  store::Constraints constraints;
  constraints.check_not_null("exportArn", input.arn.has_value());
  TRY_VOID(constraints.outcome());
  return *std::move(input.arn);
}

void DescribeExport::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(with_exchange<Response>(services,
                               [&](exchange::Exchange& exchange) { return exchange.describe_export(request); }));
}

store::Answer<ListExports::Request> ListExports::decode(Input input) {
  store::Constraints constraints;
  if (input.most) {
    constraints.check_at_least("maxResults", *input.most, 1);
    constraints.check_at_most("maxResults", *input.most, most_listed_transfers);
  }
  TRY_VOID(constraints.outcome());
  return Request{std::move(input.table_arn), input.most.value_or(most_listed_transfers),
                 std::move(input.next).value_or("")};
}

void ListExports::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(with_exchange<Response>(services, [&](exchange::Exchange& exchange) { return exchange.list_exports(request); }));
}

void ListExports::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("ExportSummaries").begin_array();
  for (const exchange::ExportDescription& each : response.transfers)
    json.begin_object()
        .key("ExportArn")
        .string(each.arn)
        .key("ExportStatus")
        .string(status_word(each.status))
        .key("ExportType")
        .string(type_word(each.request))
        .end_object();
  json.end_array();
  if (response.next) json.key("NextToken").string(*response.next);
  json.end_object();
}

}  // namespace postino::wire
