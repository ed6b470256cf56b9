#include "exchange/transfer_text.h"

#include <charconv>
#include <map>

#include "json/document.h"
#include "json/writer.h"

namespace postino::exchange {

namespace {

// Members of text; one that is missing reads as empty: earlier versions did not have it yet.
class Texts {
 public:
  Texts() = default;
  static base::Result<Texts> parse(std::string_view text) {
    json::Document document;
    json::FieldErrors errors;
    if (!document.parse(text, errors) || !document.root().is_object())
      return base::fail(base::ErrorCode::corrupt, "the record of a transfer cannot be read");
    Texts texts;
    for (const auto& [name, value] : document.root().members())
      if (value.text()) texts.members_[std::string(name)] = *value.text();
    return texts;
  }

  void set(const std::string& name, std::string value) {
    if (!value.empty()) members_[name] = std::move(value);
  }
  void set(const std::string& name, std::int64_t value) { members_[name] = std::to_string(value); }
  void set(const std::string& name, std::optional<base::TimePoint> time) {
    if (time) set(name, base::epoch_milliseconds(*time));
  }

  std::string get(const std::string& name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? "" : found->second;
  }
  bool has(const std::string& name) const { return members_.contains(name); }
  std::int64_t integer(const std::string& name) const {
    const std::string text = get(name);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  std::optional<base::TimePoint> time(const std::string& name) const {
    return has(name) ? std::optional(base::from_epoch_milliseconds(integer(name))) : std::nullopt;
  }

  std::string text() const {
    std::string text;
    json::Writer writer(text);
    writer.begin_object();
    for (const auto& [name, value] : members_) writer.key(name).string(value);
    writer.end_object();
    return text;
  }

 private:
  std::map<std::string, std::string> members_;
};

// Each with its length in front, so that different lists are different texts.
std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  return text;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc() || !text.starts_with(':') || text.size() - 1 < size) return parts;
    parts.emplace_back(text.substr(1, size));
    text.remove_prefix(1 + size);
  }
  return parts;
}

std::string number_text(std::int64_t number) { return std::to_string(number); }
std::string time_text(std::optional<base::TimePoint> time) {
  return time ? number_text(base::epoch_milliseconds(*time)) : "";
}

void set_failure(Texts& texts, const std::optional<Failure>& failure) {
  if (!failure) return;
  texts.set("failure_code", failure->code);
  texts.set("failure_message", failure->message);
}

std::optional<Failure> failure_of(const Texts& texts) {
  if (!texts.has("failure_code")) return std::nullopt;
  return Failure{texts.get("failure_code"), texts.get("failure_message")};
}

}  // namespace

std::string text_of(const ExportDescription& description) {
  const ExportRequest& request = description.request;
  Texts texts;
  texts.set("arn", description.arn);
  texts.set("table_arn", request.table_arn);
  texts.set("token", request.token);
  texts.set("bucket", request.bucket);
  texts.set("bucket_owner", request.bucket_owner);
  texts.set("prefix", request.prefix);
  texts.set("encryption", request.encryption);
  texts.set("encryption_key", request.encryption_key);
  texts.set("format", static_cast<std::int64_t>(request.format));
  texts.set("is_incremental", static_cast<std::int64_t>(request.is_incremental));
  texts.set("requested_time", request.time);
  texts.set("from", request.from);
  texts.set("to", request.to);
  texts.set("view", static_cast<std::int64_t>(request.view));
  texts.set("table_name", description.table.name);
  texts.set("table_id", description.table.id);
  texts.set("keys", joined(description.table.key_attributes));
  texts.set("time", std::optional(description.table.time));
  texts.set("status", static_cast<std::int64_t>(description.status));
  texts.set("started", std::optional(description.started));
  texts.set("ended", description.ended);
  texts.set("manifest", description.manifest);
  texts.set("item_count", description.item_count);
  texts.set("bytes", description.bytes);
  set_failure(texts, description.failure);
  return texts.text();
}

base::Result<ExportDescription> read_export(std::string_view text) {
  TRY(const Texts texts, Texts::parse(text));
  ExportDescription description;
  description.arn = texts.get("arn");
  ExportRequest& request = description.request;
  request.table_arn = texts.get("table_arn");
  request.token = texts.get("token");
  request.bucket = texts.get("bucket");
  request.bucket_owner = texts.get("bucket_owner");
  request.prefix = texts.get("prefix");
  request.encryption = texts.get("encryption");
  request.encryption_key = texts.get("encryption_key");
  request.format = static_cast<DataFormat>(texts.integer("format"));
  request.is_incremental = texts.integer("is_incremental") != 0;
  request.time = texts.time("requested_time");
  request.from = texts.time("from");
  request.to = texts.time("to");
  request.view = static_cast<ExportView>(texts.integer("view"));
  description.table = {texts.get("table_name"), request.table_arn, texts.get("table_id"), parts_of(texts.get("keys")),
                       texts.time("time").value_or(base::TimePoint())};
  description.status = static_cast<TransferStatus>(texts.integer("status"));
  description.started = texts.time("started").value_or(base::TimePoint());
  description.ended = texts.time("ended");
  description.manifest = texts.get("manifest");
  description.item_count = texts.integer("item_count");
  description.bytes = texts.integer("bytes");
  description.failure = failure_of(texts);
  return description;
}

std::string text_of(const ImportDescription& description) {
  const ImportRequest& request = description.request;
  Texts texts;
  texts.set("arn", description.arn);
  texts.set("token", request.token);
  texts.set("bucket", request.bucket);
  texts.set("bucket_owner", request.bucket_owner);
  texts.set("prefix", request.prefix);
  texts.set("format", static_cast<std::int64_t>(request.format));
  texts.set("delimiter", std::string(1, request.delimiter));
  if (request.header) texts.set("header", joined(*request.header));
  texts.set("packing", static_cast<std::int64_t>(request.packing));
  texts.set("table_text", request.table_text);
  std::vector<std::string> definitions;
  for (const store::AttributeDefinition& each : request.table.attribute_definitions) {
    definitions.push_back(each.name);
    definitions.push_back(number_text(static_cast<std::int64_t>(each.type)));
  }
  texts.set("definitions", joined(definitions));
  texts.set("table_name", description.table_name);
  texts.set("table_arn", description.table_arn);
  texts.set("table_id", description.table_id);
  texts.set("status", static_cast<std::int64_t>(description.status));
  texts.set("started", std::optional(description.started));
  texts.set("ended", description.ended);
  texts.set("error_count", description.error_count);
  texts.set("processed_bytes", description.processed_bytes);
  texts.set("processed_items", description.processed_items);
  texts.set("imported_items", description.imported_items);
  set_failure(texts, description.failure);
  return texts.text();
}

base::Result<ImportDescription> read_import(std::string_view text) {
  TRY(const Texts texts, Texts::parse(text));
  ImportDescription description;
  description.arn = texts.get("arn");
  ImportRequest& request = description.request;
  request.token = texts.get("token");
  request.bucket = texts.get("bucket");
  request.bucket_owner = texts.get("bucket_owner");
  request.prefix = texts.get("prefix");
  request.format = static_cast<DataFormat>(texts.integer("format"));
  if (const std::string delimiter = texts.get("delimiter"); !delimiter.empty()) request.delimiter = delimiter.front();
  if (texts.has("header")) request.header = parts_of(texts.get("header"));
  request.packing = static_cast<Packing>(texts.integer("packing"));
  request.table_text = texts.get("table_text");
  const std::vector<std::string> definitions = parts_of(texts.get("definitions"));
  for (std::size_t i = 0; i + 1 < definitions.size(); i += 2)
    request.table.attribute_definitions.push_back(
        {definitions[i], static_cast<item::Type>(definitions[i + 1].front() - '0')});
  description.table_name = texts.get("table_name");
  description.table_arn = texts.get("table_arn");
  description.table_id = texts.get("table_id");
  description.status = static_cast<TransferStatus>(texts.integer("status"));
  description.started = texts.time("started").value_or(base::TimePoint());
  description.ended = texts.time("ended");
  description.error_count = texts.integer("error_count");
  description.processed_bytes = texts.integer("processed_bytes");
  description.processed_items = texts.integer("processed_items");
  description.imported_items = texts.integer("imported_items");
  description.failure = failure_of(texts);
  return description;
}

std::string fingerprint_of(const ExportRequest& request) {
  return joined({request.table_arn, time_text(request.time), request.bucket, request.bucket_owner, request.prefix,
                 request.encryption, request.encryption_key, number_text(static_cast<std::int64_t>(request.format)),
                 number_text(static_cast<std::int64_t>(request.is_incremental)), time_text(request.from),
                 time_text(request.to), number_text(static_cast<std::int64_t>(request.view))});
}

std::string fingerprint_of(const ImportRequest& request) {
  return joined({request.bucket, request.bucket_owner, request.prefix,
                 number_text(static_cast<std::int64_t>(request.format)), std::string(1, request.delimiter),
                 request.header ? joined(*request.header) : "-",
                 number_text(static_cast<std::int64_t>(request.packing)), request.table_text});
}

}  // namespace postino::exchange
