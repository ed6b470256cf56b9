#include "wire/protocol/input.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "item/json_decode.h"

namespace postino::wire {

namespace {

// simdjson reads beyond the end of what it parses, so a body is copied to where it may.
class Document {
 public:
  simdjson::error_code open(std::string_view body) {
    const std::size_t needed = body.size() + simdjson::SIMDJSON_PADDING;
    if (buffer_.size() < needed || buffer_.size() > kept_size) {
      buffer_.assign(std::max(needed, usual_size), '\0');
      buffer_.shrink_to_fit();
    }
    if (!body.empty()) std::memcpy(buffer_.data(), body.data(), body.size());
    std::memset(buffer_.data() + body.size(), 0, simdjson::SIMDJSON_PADDING);
    return parser_.iterate(simdjson::padded_string_view(buffer_.data(), body.size(), buffer_.size())).get(document);
  }

  simdjson::ondemand::document document;

 private:
  static constexpr std::size_t usual_size = 16 << 10;
  static constexpr std::size_t kept_size = 1 << 20;
  std::string buffer_;
  simdjson::ondemand::parser parser_;
};

Document& this_threads_document() {
  thread_local Document document;
  return document;
}

bool walk(simdjson::ondemand::value json, int depth) {
  constexpr int max_depth = 1'000;
  if (depth > max_depth) return false;
  simdjson::ondemand::json_type type;
  if (json.type().get(type)) return false;
  switch (type) {
    case simdjson::ondemand::json_type::object: {
      simdjson::ondemand::object object;
      if (json.get_object().get(object)) return false;
      for (auto field : object) {
        std::string_view name;
        simdjson::ondemand::value value;
        if (field.unescaped_key().get(name) || field.value().get(value) || !walk(value, depth + 1)) return false;
      }
      return true;
    }
    case simdjson::ondemand::json_type::array: {
      simdjson::ondemand::array array;
      if (json.get_array().get(array)) return false;
      for (auto element : array) {
        simdjson::ondemand::value value;
        if (element.get(value) || !walk(value, depth + 1)) return false;
      }
      return true;
    }
    case simdjson::ondemand::json_type::string: {
      std::string_view text;
      return !json.get_string().get(text);
    }
    case simdjson::ondemand::json_type::number: {
      double number = 0;
      return !json.get_double().get(number);
    }
    case simdjson::ondemand::json_type::boolean: {
      bool value = false;
      return !json.get_bool().get(value);
    }
    case simdjson::ondemand::json_type::null:
      break;
  }
  bool is_null = false;
  return !json.is_null().get(is_null) && is_null;
}

}  // namespace

bool InputReader::read(Json json, std::string& out) {
  std::string_view text;
  if (!reader_.text(json, text)) return false;
  out.assign(text);
  return true;
}

bool InputReader::read(Json json, std::int32_t& out) {
  std::int64_t number = 0;
  if (!reader_.integer(json, number, "Integer")) return false;
  using Limits = std::numeric_limits<std::int32_t>;
  out = static_cast<std::int32_t>(std::clamp<std::int64_t>(number, Limits::min(), Limits::max()));
  return true;
}

bool InputReader::read(Json json, base::TimePoint& out) {
  item::JsonReader::Type type;
  if (!reader_.type_of(json, type)) return false;
  std::int64_t not_a_number = 0;
  if (type != item::JsonReader::Type::number) return reader_.integer(json, not_a_number, "Long");
  double seconds = 0;
  if (json.get_double().get(seconds)) return reader_.broken();
  constexpr double limit = 1e12;  // milliseconds of later times do not fit
  constexpr double milliseconds = 1e3;
  out = base::from_epoch_milliseconds(std::llround(std::clamp(seconds, -limit, limit) * milliseconds));
  return true;
}

bool InputReader::read(Json json, ValueInput& out) {
  auto value = item::value_from_json(json);
  if (value) {
    out.value = *std::move(value);
    return true;
  }
  if (value.error().code == base::ErrorCode::malformed) return reader_.fail(std::move(value.error().message));
  out.fault = std::move(value.error().message);
  return true;
}

bool InputReader::read(Json json, MapInput& out) {
  simdjson::ondemand::object object;
  if (!reader_.map(json, object)) return false;
  auto map = item::map_from_json(object);
  if (map) {
    out.map = *std::move(map);
    return true;
  }
  if (map.error().code == base::ErrorCode::malformed) return reader_.fail(std::move(map.error().message));
  out.fault = std::move(map.error().message);
  out.broken_rule = map.error().rule;
  return true;
}

bool InputReader::read(Json json, ValuesInput& out) {
  simdjson::ondemand::object object;
  if (!reader_.map(json, object)) return false;
  std::vector<item::Attribute> values;
  for (auto field : object) {
    std::string_view name;
    Json each;
    ValueInput value;
    if (!reader_.field(field, name, each)) return false;
    item::Attribute& attribute = values.emplace_back();
    attribute.name.assign(name);
    if (!read(each, value)) return false;
    if (value.fault && !out.fault)
      out.fault = "ExpressionAttributeValues contains invalid value: " + *value.fault + " for key " + attribute.name;
    attribute.value = std::move(value.value);
  }
  out.values = expr::Values(std::move(values));
  return true;
}

bool InputReader::read(Json json, expr::Names& out) {
  simdjson::ondemand::object object;
  if (!reader_.map(json, object, "java.lang.String")) return false;
  for (auto field : object) {
    std::string_view name;
    Json each;
    if (!reader_.field(field, name, each)) return false;
    std::string& target = out[std::string(name)];
    if (!read(each, target)) return false;
  }
  return true;
}

base::Result<simdjson::ondemand::object> open_document(std::string_view body) {
  Document& document = this_threads_document();
  simdjson::ondemand::json_type type;
  simdjson::ondemand::object object;
  if (document.open(body) || document.document.type().get(type) || type != simdjson::ondemand::json_type::object ||
      document.document.get_object().get(object))
    return base::fail(base::ErrorCode::malformed, "");
  return object;
}

bool at_end_of_document() {
  // Only at the end of the text is there no location.
  return this_threads_document().document.current_location().error() != simdjson::SUCCESS;
}

bool is_json(std::string_view body) {
  Document& document = this_threads_document();
  simdjson::ondemand::json_type type;
  if (document.open(body) || document.document.type().get(type)) return false;
  if (type != simdjson::ondemand::json_type::object && type != simdjson::ondemand::json_type::array)
    return true;  // a scalar alone: what it is does not matter
  simdjson::ondemand::value value;
  return !document.document.get_value().get(value) && walk(value, 1) && at_end_of_document();
}

}  // namespace postino::wire
