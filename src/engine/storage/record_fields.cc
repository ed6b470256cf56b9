#include "engine/storage/record_fields.h"

namespace postino::engine {

namespace {

template <class T>
const T* find(const item::Map& map, std::string_view name) {
  const item::AttributeValue* value = map.find(name);
  return value == nullptr ? nullptr : value->get_if<T>();
}

}  // namespace

std::optional<std::string> RecordReader::optional_text(std::string_view name) const {
  const auto* value = find<std::string>(*map_, name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
}

std::string RecordReader::text(std::string_view name) const { return optional_text(name).value_or(std::string()); }

std::optional<std::int64_t> RecordReader::optional_integer(std::string_view name) const {
  const auto* value = find<item::Number>(*map_, name);
  return value == nullptr ? std::nullopt : value->to_int64();
}

std::int64_t RecordReader::integer(std::string_view name) const { return optional_integer(name).value_or(0); }

bool RecordReader::boolean(std::string_view name) const {
  const auto* value = find<bool>(*map_, name);
  return value != nullptr && *value;
}

std::optional<std::string> RecordReader::optional_bytes(std::string_view name) const {
  const auto* value = find<item::Binary>(*map_, name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value->bytes);
}

std::optional<base::TimePoint> RecordReader::optional_time(std::string_view name) const {
  const auto value = optional_integer(name);
  return value ? std::optional<base::TimePoint>(base::from_epoch_milliseconds(*value)) : std::nullopt;
}

std::optional<RecordReader> RecordReader::map(std::string_view name) const {
  const auto* value = find<item::Map>(*map_, name);
  return value == nullptr ? std::nullopt : std::optional<RecordReader>(*value);
}

std::vector<RecordReader> RecordReader::maps(std::string_view name) const {
  std::vector<RecordReader> result;
  if (const auto* list = find<item::List>(*map_, name))
    for (const item::AttributeValue& value : *list)
      if (const auto* element = value.get_if<item::Map>()) result.emplace_back(*element);
  return result;
}

std::vector<std::string> RecordReader::texts(std::string_view name) const {
  std::vector<std::string> result;
  if (const auto* list = find<item::List>(*map_, name))
    for (const item::AttributeValue& value : *list)
      if (const auto* element = value.get_if<std::string>()) result.push_back(*element);
  return result;
}

RecordWriter& RecordWriter::text(std::string name, std::string value) {
  map_.set(std::move(name), std::move(value));
  return *this;
}

RecordWriter& RecordWriter::text(std::string name, const std::optional<std::string>& value) {
  return value ? text(std::move(name), *value) : *this;
}

RecordWriter& RecordWriter::integer(std::string name, std::int64_t value) {
  map_.set(std::move(name), value);
  return *this;
}

RecordWriter& RecordWriter::integer(std::string name, std::optional<std::int64_t> value) {
  return value ? integer(std::move(name), *value) : *this;
}

RecordWriter& RecordWriter::boolean(std::string name, bool value) {
  map_.set(std::move(name), value);
  return *this;
}

RecordWriter& RecordWriter::bytes(std::string name, std::string value) {
  map_.set(std::move(name), item::Binary{std::move(value)});
  return *this;
}

RecordWriter& RecordWriter::time(std::string name, std::optional<base::TimePoint> value) {
  return value ? integer(std::move(name), base::epoch_milliseconds(*value)) : *this;
}

RecordWriter& RecordWriter::map(std::string name, RecordWriter value) {
  map_.set(std::move(name), value.take());
  return *this;
}

RecordWriter& RecordWriter::texts(std::string name, const std::vector<std::string>& values) {
  item::List list(values.begin(), values.end());
  map_.set(std::move(name), std::move(list));
  return *this;
}

}  // namespace postino::engine
