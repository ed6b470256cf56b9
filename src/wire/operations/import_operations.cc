#include "wire/operations/import_operations.h"

#include "store/constraints.h"
#include "wire/protocol/table_json.h"

namespace postino::wire {

namespace {

constexpr std::size_t most_columns = 255;
constexpr int most_listed_imports = 25;
constexpr std::string_view delimiters = ",;:|\t ";

std::string_view packing_word(exchange::Packing packing) {
  switch (packing) {
    case exchange::Packing::gzip:
      return "GZIP";
    case exchange::Packing::zstd:
      return "ZSTD";
    case exchange::Packing::none:
      break;
  }
  return "NONE";
}

void write_source(JsonWriter& json, const exchange::ImportRequest& request) {
  json.key("S3BucketSource").begin_object();
  if (!request.bucket_owner.empty()) json.key("S3BucketOwner").string(request.bucket_owner);
  json.key("S3Bucket").string(request.bucket);
  if (!request.prefix.empty()) json.key("S3KeyPrefix").string(request.prefix);
  json.end_object();
}

void write_csv(JsonWriter& json, const exchange::ImportRequest& request) {
  if (request.format != exchange::DataFormat::csv) return;
  json.key("InputFormatOptions").begin_object().key("Csv").begin_object();
  json.key("Delimiter").string(std::string(1, request.delimiter));
  if (request.header) {
    json.key("HeaderList").begin_array();
    for (const std::string& name : *request.header) json.string(name);
    json.end_array();
  }
  json.end_object().end_object();
}

store::Answer<void> check_import(const ImportInput& input) {
  store::Constraints constraints;
  constraints.check_not_null("s3BucketSource", input.source.has_value());
  if (input.source) constraints.check_not_null("s3BucketSource.s3Bucket", input.source->bucket.has_value());
  constraints.check_not_null("inputFormat", input.format.has_value());
  constraints.check_not_null("tableCreationParameters", input.table.has_value());
  if (input.format && *input.format != "DYNAMODB_JSON" && *input.format != "ION" && *input.format != "CSV")
    constraints.check_one_of("inputFormat", *input.format, "[DYNAMODB_JSON, ION, CSV]");
  if (input.packing && *input.packing != "GZIP" && *input.packing != "ZSTD" && *input.packing != "NONE")
    constraints.check_one_of("inputCompressionType", *input.packing, "[GZIP, ZSTD, NONE]");
  if (input.format_options && input.format_options->csv) {
    const CsvInput& csv = *input.format_options->csv;
    if (csv.delimiter && (csv.delimiter->size() != 1 || delimiters.find(*csv.delimiter) == std::string_view::npos))
      constraints.refuse("inputFormatOptions.csv.delimiter", *csv.delimiter,
                         "Member must satisfy regular expression pattern: [,;:|\\t ]");
    if (csv.header) constraints.check_count("inputFormatOptions.csv.headerList", csv.header->size(), 1, most_columns);
  }
  return constraints.outcome();
}

}  // namespace

void OneImport::encode(JsonWriter& json, const Response& response, const Reporting&) {
  const exchange::ImportRequest& request = response.request;
  json.begin_object().key("ImportTableDescription").begin_object();
  json.key("ImportArn").string(response.arn).key("ImportStatus").string(status_word(response.status));
  json.key("TableArn").string(response.table_arn);
  if (!response.table_id.empty()) json.key("TableId").string(response.table_id);
  json.key("ClientToken").string(request.token);
  write_source(json, request);
  json.key("ErrorCount").integer(response.error_count).key("InputFormat").string(format_word(request.format));
  write_csv(json, request);
  json.key("InputCompressionType").string(packing_word(request.packing));
  if (!request.table_text.empty()) json.key("TableCreationParameters").raw(request.table_text);
  json.key("StartTime").time(response.started);
  if (response.ended) json.key("EndTime").time(*response.ended);
  json.key("ProcessedSizeBytes").integer(response.processed_bytes);
  json.key("ProcessedItemCount").integer(response.processed_items);
  json.key("ImportedItemCount").integer(response.imported_items);
  write_failure(json, response.failure);
  json.end_object().end_object();
}

store::Answer<ImportTable::Request> ImportTable::decode(Input input) {
  TRY_VOID(check_import(input));
  Request request;
  request.token = std::move(input.token).value_or("");
  request.bucket = *std::move(input.source->bucket);
  request.bucket_owner = std::move(input.source->bucket_owner).value_or("");
  request.prefix = std::move(input.source->prefix).value_or("");
  if (input.format == "ION") request.format = exchange::DataFormat::ion;
  if (input.format == "CSV") request.format = exchange::DataFormat::csv;
  if (input.packing == "GZIP") request.packing = exchange::Packing::gzip;
  if (input.packing == "ZSTD") request.packing = exchange::Packing::zstd;
  if (input.format_options && input.format_options->csv) {
    CsvInput& csv = *input.format_options->csv;
    if (request.format != exchange::DataFormat::csv)
      return store::refuse_invalid("Invalid Request: InputFormatOptions.Csv is for the InputFormat CSV");
    if (csv.delimiter) request.delimiter = csv.delimiter->front();
    request.header = std::move(csv.header);
  }
  // What the parameters of an import cannot have.
  input.table->stream.reset();
  input.table->tags.reset();
  input.table->local_indexes.reset();
  input.table->resource_policy.reset();
  input.table->deletion_protection.reset();
  input.table->table_class.reset();
  TRY(request.table, CreateTable::decode(*std::move(input.table)));
  JsonWriter json(request.table_text);
  write_creation(json, request.table);
  return request;
}

void ImportTable::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  begin_transfer<Response>(services, done,
                           [request](exchange::Exchange& exchange) { return exchange.import_table(request); });
}

store::Answer<std::string> DescribeImport::decode(Input input) {
  store::Constraints constraints;
  constraints.check_not_null("importArn", input.arn.has_value());
  TRY_VOID(constraints.outcome());
  return *std::move(input.arn);
}

void DescribeImport::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(with_exchange<Response>(services,
                               [&](exchange::Exchange& exchange) { return exchange.describe_import(request); }));
}

store::Answer<ListImports::Request> ListImports::decode(Input input) {
  store::Constraints constraints;
  if (input.most) {
    constraints.check_at_least("pageSize", *input.most, 1);
    constraints.check_at_most("pageSize", *input.most, most_listed_imports);
  }
  TRY_VOID(constraints.outcome());
  return Request{std::move(input.table_arn), input.most.value_or(most_listed_imports),
                 std::move(input.next).value_or("")};
}

void ListImports::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(with_exchange<Response>(services, [&](exchange::Exchange& exchange) { return exchange.list_imports(request); }));
}

void ListImports::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("ImportSummaryList").begin_array();
  for (const exchange::ImportDescription& each : response.transfers) {
    json.begin_object().key("ImportArn").string(each.arn).key("ImportStatus").string(status_word(each.status));
    json.key("TableArn").string(each.table_arn);
    write_source(json, each.request);
    json.key("InputFormat").string(format_word(each.request.format)).key("StartTime").time(each.started);
    if (each.ended) json.key("EndTime").time(*each.ended);
    json.end_object();
  }
  json.end_array();
  if (response.next) json.key("NextToken").string(*response.next);
  json.end_object();
}

}  // namespace postino::wire
