// Writes JSON text, member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "item/json_codec.h"

namespace postino::wire {

// The caller opens and closes what it writes; commas come by themselves.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  // The name of the next member: one of the protocol's, which need no escaping.
  JsonWriter& key(std::string_view name) {
    separate();
    out_.append(1, '"').append(name).append("\":");
    after_value_ = false;
    return *this;
  }
  // A name that comes from a user.
  JsonWriter& any_key(std::string_view name) {
    separate();
    item::append_json_string(out_, name);
    out_ += ':';
    after_value_ = false;
    return *this;
  }

  JsonWriter& string(std::string_view text) {
    separate();
    item::append_json_string(out_, text);
    return written();
  }
  JsonWriter& integer(std::int64_t number) {
    separate();
    out_ += std::to_string(number);
    return written();
  }
  JsonWriter& boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return written();
  }
  // Capacity units and sizes: a multiple of a half, always with a fraction.
  JsonWriter& units(double number);
  // Seconds since the epoch with milliseconds.
  JsonWriter& time(base::TimePoint time);
  JsonWriter& value(const item::AttributeValue& value) {
    separate();
    item::append_json(out_, value);
    return written();
  }
  JsonWriter& item(const item::Map& item) {
    separate();
    item::append_json(out_, item);
    return written();
  }
  JsonWriter& items(const std::vector<item::Map>& items) {
    begin_array();
    for (const item::Map& each : items) item(each);
    return end_array();
  }

 private:
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    after_value_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    return written();
  }
  void separate() {
    if (after_value_) out_ += ',';
  }
  JsonWriter& written() {
    after_value_ = true;
    return *this;
  }

  std::string& out_;
  bool after_value_ = false;
};

}  // namespace postino::wire
