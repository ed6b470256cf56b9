#include "item/json_reader.h"

#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "item/json_codec.h"

namespace postino::item {
namespace {

// DynamoDB names the types of its own implementation.
constexpr std::string_view string_class = "class java.lang.String";
constexpr std::string_view bytes_class = "class java.nio.ByteBuffer";
constexpr std::string_view boolean_class = "class java.lang.Boolean";
constexpr std::string_view value_class = "class com.amazonaws.dynamodb.v20120810.AttributeValue";
constexpr std::string_view map_class =
    "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";

constexpr std::string_view protocol_package = "com.amazonaws.dynamodb.v20120810.";

constexpr const char* unexpected_field = "Unexpected field type";
constexpr const char* unexpected_value = "Unexpected value type in payload";
constexpr const char* unexpected_object = "Start of structure or map found where not expected";

std::string unexpected_array(std::string_view java_class) {
  return std::string("Unrecognized collection type ").append(java_class);
}

std::string_view token_name(std::string_view token) {
  if (token.starts_with('t')) return "TRUE_VALUE";
  if (token.starts_with('f')) return "FALSE_VALUE";
  return token.find_first_of(".eE") == std::string_view::npos ? "NUMBER_VALUE" : "DECIMAL_VALUE";
}

}  // namespace

bool JsonReader::fail(std::string message) {
  error_ = {base::ErrorCode::malformed, std::move(message)};
  return false;
}

bool JsonReader::type_of(Json json, Type& out) { return !json.type().get(out) || broken(); }

bool JsonReader::wrong_scalar(Json json, Type type, std::string_view java_class) {
  if (type == Type::object) return fail(unexpected_object);
  if (type == Type::array) return fail(unexpected_array(java_class));
  if (type == Type::null) return broken();
  const std::string_view short_name = java_class.substr(java_class.find_last_of('.') + 1);
  return fail(std::string(token_name(json.raw_json_token())).append(" cannot be converted to ").append(short_name));
}

bool JsonReader::text(Json json, std::string_view& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type != Type::string) return wrong_scalar(json, type, string_class);
  return !json.get_string().get(out) || broken();
}

bool JsonReader::bytes(Json json, std::string& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::number || type == Type::boolean)
    return fail("only base-64-encoded strings are convertible to bytes");
  if (type != Type::string) return wrong_scalar(json, type, bytes_class);
  std::string_view encoded;
  if (json.get_string().get(encoded)) return broken();
  auto decoded = base::from_base64(encoded);
  if (!decoded) return fail(decoded.error().message);
  out = *std::move(decoded);
  return true;
}

bool JsonReader::boolean(Json json, bool& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::boolean) return !json.get_bool().get(out) || broken();
  if (type != Type::string) return wrong_scalar(json, type, boolean_class);
  std::string_view word;
  if (json.get_string().get(word)) return broken();
  out = word == "true" || word == "1" || word == "yes";
  return out || word == "false" || word == "0" || word == "no" || fail("Unexpected token received from parser");
}

bool JsonReader::null(Json json) {
  bool is_null = false;
  return (!json.is_null().get(is_null) && is_null) || broken();
}

bool JsonReader::integer(Json json, std::int64_t& out, std::string_view java_class) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::string) return fail(std::string("STRING_VALUE cannot be converted to ").append(java_class));
  if (type != Type::number) return wrong_scalar(json, type, std::string("class java.lang.").append(java_class));
  if (!json.get_int64().get(out)) return true;
  double number = 0;
  if (json.get_double().get(number)) return broken();
  constexpr double limit = 9.2e18;
  out = static_cast<std::int64_t>(std::floor(std::clamp(number, -limit, limit)));
  return true;
}

bool JsonReader::array(Json json, simdjson::ondemand::array& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::object) return fail(unexpected_object);
  if (type != Type::array) return fail(unexpected_field);
  return !json.get_array().get(out) || broken();
}

bool JsonReader::map(Json json, simdjson::ondemand::object& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type != Type::object) return not_a_map(type);
  return !json.get_object().get(out) || broken();
}

bool JsonReader::value(Json json, simdjson::ondemand::object& out) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type != Type::object) return not_a_value(type);
  return !json.get_object().get(out) || broken();
}

bool JsonReader::map(Json json, simdjson::ondemand::object& out, std::string_view entry_class) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::array)
    return fail(
        std::string("Unrecognized collection type java.util.Map<java.lang.String, ").append(entry_class).append(">"));
  if (type != Type::object) return fail(unexpected_field);
  return !json.get_object().get(out) || broken();
}

bool JsonReader::structure(Json json, simdjson::ondemand::object& out, std::string_view name, Place place) {
  Type type;
  if (!type_of(json, type)) return false;
  if (type == Type::array)
    return fail(std::string("Unrecognized collection type class ").append(protocol_package).append(name));
  if (type != Type::object) return fail(place == Place::member ? unexpected_field : unexpected_value);
  return !json.get_object().get(out) || broken();
}

bool JsonReader::not_a_map(Type type) {
  return fail(type == Type::array ? unexpected_array(map_class) : unexpected_field);
}

bool JsonReader::not_a_value(Type type) {
  return fail(type == Type::array ? unexpected_array(value_class) : unexpected_value);
}

}  // namespace postino::item
