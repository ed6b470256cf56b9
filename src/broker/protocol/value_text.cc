#include "broker/protocol/value_text.h"

#include <cmath>
#include <limits>
#include <proton/binary.hpp>
#include <proton/decimal.hpp>
#include <proton/error.hpp>
#include <proton/symbol.hpp>
#include <proton/timestamp.hpp>
#include <proton/types.hpp>
#include <proton/uuid.hpp>

#include "base/hash.h"
#include "base/timestamp.h"
#include "json/string.h"

namespace postino::broker {

namespace {

constexpr int deepest_text = 32;

void append_json(std::string& out, const proton::value& value, int depth);

// Years that RFC 3339 does not have stay numbers.
std::string time_text(proton::timestamp time) {
  constexpr std::int64_t first = -62'135'596'800'000, last = 253'402'300'799'999;  // of years 1 and 9999
  if (time.milliseconds() < first || time.milliseconds() > last) return std::to_string(time.milliseconds());
  return base::format_timestamp(base::from_epoch_milliseconds(time.milliseconds()));
}

void append_list(std::string& out, const proton::value& value, int depth) {
  out += '[';
  bool first = true;
  for (const proton::value& element : proton::get<std::vector<proton::value>>(value)) {
    if (!std::exchange(first, false)) out += ',';
    append_json(out, element, depth);
  }
  out += ']';
}

void append_map(std::string& out, const proton::value& value, int depth) {
  out += '{';
  bool first = true;
  for (const auto& [key, element] : proton::get<std::map<proton::value, proton::value>>(value)) {
    if (!std::exchange(first, false)) out += ',';
    json::append_string(out, text_of(key));
    out += ':';
    append_json(out, element, depth);
  }
  out += '}';
}

void append_scalar(std::string& out, const Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    json::append_string(out, *text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    out += std::to_string(*integer);
  } else if (const auto* flag = std::get_if<bool>(&scalar)) {
    out += *flag ? "true" : "false";
  } else if (const double number = std::get<double>(scalar); std::isfinite(number)) {
    char digits[32];
    out.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.17g", number)));
  } else {
    out += "null";
  }
}

void append_json(std::string& out, const proton::value& value, int depth) {
  if (value.empty() || value.type() == proton::NULL_TYPE || depth == deepest_text) {
    out += "null";
  } else if (value.type() == proton::MAP) {
    append_map(out, value, depth + 1);
  } else if (value.type() == proton::LIST || value.type() == proton::ARRAY) {
    append_list(out, value, depth + 1);
  } else {
    append_scalar(out, scalar_of(value));
  }
}

}  // namespace

std::string readable(std::string bytes) { return json::is_utf8(bytes) ? std::move(bytes) : base::to_hex(bytes); }

Scalar scalar_of(const proton::value& value) {
  switch (value.type()) {
    case proton::BOOLEAN:
      return proton::get<bool>(value);
    case proton::UBYTE:
    case proton::BYTE:
    case proton::USHORT:
    case proton::SHORT:
    case proton::UINT:
    case proton::INT:
    case proton::LONG:
      return proton::coerce<std::int64_t>(value);
    case proton::ULONG: {
      const auto number = proton::get<std::uint64_t>(value);
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::to_string(number);
      return static_cast<std::int64_t>(number);
    }
    case proton::FLOAT:
    case proton::DOUBLE:
      return proton::coerce<double>(value);
    case proton::STRING:
      return readable(proton::get<std::string>(value));
    case proton::SYMBOL:
      return readable(proton::get<proton::symbol>(value));
    case proton::BINARY: {
      const auto bytes = proton::get<proton::binary>(value);
      return readable({bytes.begin(), bytes.end()});
    }
    case proton::TIMESTAMP:
      return time_text(proton::get<proton::timestamp>(value));
    case proton::UUID:
      return proton::get<proton::uuid>(value).str();
    case proton::LIST:
    case proton::MAP:
    case proton::ARRAY:
      return json_of(value);
    default:
      return readable(proton::to_string(value));
  }
}

std::string text_of(const proton::value& value) {
  const Scalar scalar = scalar_of(value);
  if (const auto* text = std::get_if<std::string>(&scalar)) return *text;
  std::string out;
  append_scalar(out, scalar);
  return out;
}

std::string text_of(const proton::message_id& id) { return id.empty() ? "" : text_of(proton::value(id)); }

std::string json_of(const proton::value& value) {
  std::string out;
  append_json(out, value, 0);
  return out;
}

}  // namespace postino::broker
