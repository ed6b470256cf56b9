#include "exchange/import_files.h"

#include <map>

#include "exchange/csv.h"
#include "exchange/ion_text.h"
#include "item/json_codec.h"
#include "json/document.h"
#include "json/string.h"

namespace postino::exchange {

namespace {

constexpr std::string_view item_member = "Item";

// {"Item":{...}}
base::Result<item::Item> item_of_json(std::string_view line) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(line, errors)) return base::fail(base::ErrorCode::malformed, "the line is no JSON");
  const auto member = document.root().member(item_member);
  if (!member || !member->is_object())
    return base::fail(base::ErrorCode::malformed, "the line has no object with the name Item");
  return item::parse_item(member->compact());
}

base::Result<item::Item> item_of_ion(std::string_view text) {
  TRY(item::Map map, parse_ion(text));
  item::AttributeValue* const value = map.find(item_member);
  item::Map* const item = value == nullptr ? nullptr : value->get_if<item::Map>();
  if (item == nullptr) return base::fail(base::ErrorCode::malformed, "Ion text: there is no structure Item");
  return std::move(*item);
}

bool has_data(const std::string& name) {
  const std::string last = name.substr(name.rfind('/') + 1);
  return last != "_started" && last != "manifest-summary.json" && last != "manifest-files.json" &&
         !last.ends_with(".checksum") && !last.ends_with(".md5");
}

std::map<std::string, item::Type> types_of(const store::CreateTableRequest& table) {
  std::map<std::string, item::Type> types;
  for (const store::AttributeDefinition& each : table.attribute_definitions) types[each.name] = each.type;
  return types;
}

}  // namespace

base::Result<std::vector<ObjectName>> data_objects(Bucket& bucket, const std::string& prefix) {
  TRY(std::vector<ObjectName> objects, bucket.list(prefix, most_imported_objects));
  std::erase_if(objects, [](const ObjectName& object) { return !has_data(object.name); });
  return objects;
}

base::Result<void> read_object(Bucket& bucket, const ObjectName& object, const ImportRequest& request,
                               const std::function<bool()>& goes_on, const TakeItem& take) {
  TRY(const std::unique_ptr<ByteSource> source, bucket.open(object.name));
  const std::unique_ptr<ByteSource> plain = unpacked(*source, request.packing);
  const std::unique_ptr<RecordSplitter> records = splitter_of(request.format);
  CsvItems csv(request.delimiter, request.header, types_of(request.table));
  const auto item_of = [&](const std::string& record) -> base::Result<item::Item> {
    if (request.format != DataFormat::dynamodb_json && !json::is_utf8(record))
      return base::fail(base::ErrorCode::malformed, "the record is no UTF-8");
    if (request.format == DataFormat::csv) return csv.item_of(record);
    return request.format == DataFormat::ion ? item_of_ion(record) : item_of_json(record);
  };
  for (bool is_over = false; !is_over;) {
    TRY(const std::optional<std::string> text, plain->next());
    if (!goes_on()) return {};
    is_over = !text;
    if (text)
      records->add(*text);
    else
      records->finish();
    while (true) {
      TRY(const std::optional<std::string> record, records->next());
      if (!record) break;
      if (request.format == DataFormat::csv && csv.needs_header()) {
        TRY_VOID(csv.take_header(*record));
        continue;
      }
      if (!take(item_of(*record))) return {};
    }
  }
  return {};
}

}  // namespace postino::exchange
