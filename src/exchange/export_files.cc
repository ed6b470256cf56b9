#include "exchange/export_files.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "exchange/ion_text.h"
#include "exchange/packing.h"
#include "item/json_codec.h"
#include "json/writer.h"

namespace postino::exchange {

namespace {

constexpr std::size_t bytes_per_file = 16 << 20;  // before they are packed
constexpr std::string_view root_folder = "AWSDynamoDB/";

std::string id_in(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

std::string with_slash(const std::string& prefix) {
  return prefix.empty() || prefix.ends_with('/') ? prefix : prefix + '/';
}

// Of one export and number always the same, and of no others.
std::string data_name(const std::string& arn, std::size_t number) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr std::size_t length = 26;
  const std::string digest = base::sha256(arn + "/" + std::to_string(number));
  std::string name;
  for (std::size_t i = 0; i < length; ++i) name += letters[static_cast<unsigned char>(digest[i]) % letters.size()];
  return name;
}

std::string micros(base::TimePoint time) { return std::to_string(base::epoch_milliseconds(time) * 1'000); }

std::string json_line(const store::ItemChange& change, ExportView view) {
  std::string line = R"({"Metadata":{"WriteTimestampMicros":{"N":")" + micros(change.written) + R"("}},"Keys":)";
  item::append_json(line, change.key);
  if (change.before && view == ExportView::new_and_old_images) {
    line += R"(,"OldImage":)";
    item::append_json(line, *change.before);
  }
  if (change.after) {
    line += R"(,"NewImage":)";
    item::append_json(line, *change.after);
  }
  return line + "}";
}

std::string ion_line(const store::ItemChange& change, ExportView view) {
  std::string line = std::string(ion_version) + " {Record:{Keys:";
  append_ion(line, change.key);
  line += ",Metadata:{WriteTimestampMicros:";
  append_ion_decimal(line, micros(change.written));
  line += "}";
  if (change.before && view == ExportView::new_and_old_images) {
    line += ",OldImage:";
    append_ion(line, *change.before);
  }
  if (change.after) {
    line += ",NewImage:";
    append_ion(line, *change.after);
  }
  return line + "}}";
}

void write_text(json::Writer& json, std::string_view name, const std::string& value) {
  json.key(name);
  if (value.empty())
    json.null();
  else
    json.string(value);
}

}  // namespace

ExportFiles::ExportFiles(Bucket& bucket, const ExportDescription& description)
    : bucket_(bucket),
      arn_(description.arn),
      format_(description.request.format),
      is_incremental_(description.request.is_incremental),
      view_(description.request.view),
      folder_(with_slash(description.request.prefix) + std::string(root_folder) + id_in(description.arn) + "/"),
      data_folder_(is_incremental_ ? with_slash(description.request.prefix) + std::string(root_folder) + "data/"
                                   : folder_ + "data/") {}

base::Result<void> ExportFiles::begin() { return bucket_.put(folder_ + "_started", ""); }

base::Result<void> ExportFiles::add(const item::Item& item) {
  std::string line;
  if (format_ == DataFormat::ion) {
    line = std::string(ion_version) + " {Item:";
    append_ion(line, item);
  } else {
    line = R"({"Item":)";
    item::append_json(line, item);
  }
  return add_line(line + "}");
}

base::Result<void> ExportFiles::add(const store::ItemChange& change) {
  return add_line(format_ == DataFormat::ion ? ion_line(change, view_) : json_line(change, view_));
}

base::Result<void> ExportFiles::add_line(const std::string& line) {
  data_.append(line).append("\n");
  ++data_items_;
  return data_.size() >= bytes_per_file ? write_data() : base::Result<void>();
}

base::Result<void> ExportFiles::write_data() {
  DataFile file;
  file.name = data_folder_ + data_name(arn_, files_.size()) + (format_ == DataFormat::ion ? ".ion.gz" : ".json.gz");
  file.item_count = data_items_;
  const std::string packed = gzip(data_);
  file.digest = md5(packed);
  TRY_VOID(bucket_.put(file.name, packed));
  files_.push_back(std::move(file));
  data_.clear();
  data_items_ = 0;
  return {};
}

base::Result<void> ExportFiles::put_with_checksum(const std::string& name, const std::string& text) {
  TRY_VOID(bucket_.put(folder_ + name + ".checksum", base::to_base64(md5(text))));
  return bucket_.put(folder_ + name + ".json", text);
}

base::Result<void> ExportFiles::finish(const ExportDescription& description) {
  if (data_items_ > 0 || files_.empty()) TRY_VOID(write_data());
  std::string list;
  for (const DataFile& file : files_) {
    json::Writer json(list);
    json.begin_object().key("itemCount").integer(file.item_count);
    json.key("md5Checksum").string(base::to_base64(file.digest)).key("etag").string(base::to_hex(file.digest));
    json.key("dataFileS3Key").string(file.name).end_object();
    list += '\n';
  }
  TRY_VOID(put_with_checksum("manifest-files", list));
  return put_with_checksum("manifest-summary", summary(description));
}

std::string ExportFiles::summary(const ExportDescription& description) const {
  const ExportRequest& request = description.request;
  std::string text;
  json::Writer json(text);
  json.begin_object().key("version").string(is_incremental_ ? "2023-08-01" : "2020-06-30");
  json.key("exportArn").string(description.arn);
  json.key("startTime").string(base::format_timestamp(description.started));
  json.key("endTime").string(base::format_timestamp(description.ended.value_or(description.started)));
  json.key("tableArn").string(request.table_arn).key("tableId").string(description.table.id);
  if (is_incremental_) {
    json.key("exportFromTime").string(base::format_timestamp(*request.from));
    json.key("exportToTime").string(base::format_timestamp(*request.to));
  } else {
    json.key("exportTime").string(base::format_timestamp(description.table.time));
  }
  json.key("s3Bucket").string(request.bucket);
  write_text(json, "s3Prefix", request.prefix);
  write_text(json, "s3SseAlgorithm", request.encryption);
  write_text(json, "s3SseKmsKeyId", request.encryption_key);
  json.key("manifestFilesS3Key").string(folder_ + "manifest-files.json");
  json.key("billedSizeBytes").integer(description.bytes).key("itemCount").integer(description.item_count);
  json.key("outputFormat").string(format_ == DataFormat::ion ? "ION" : "DYNAMODB_JSON");
  if (is_incremental_)
    json.key("outputView").string(view_ == ExportView::new_image ? "NEW_IMAGE" : "NEW_AND_OLD_IMAGES");
  json.key("exportType").string(is_incremental_ ? "INCREMENTAL_EXPORT" : "FULL_EXPORT").end_object();
  return text;
}

}  // namespace postino::exchange
