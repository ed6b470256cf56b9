// Writes the protocol's JSON: attribute values, capacity units and times as DynamoDB has them.
#pragma once

#include <vector>

#include "base/clock.h"
#include "item/json_codec.h"
#include "json/writer.h"

namespace postino::wire {

class JsonWriter final : public json::BasicWriter<JsonWriter> {
 public:
  using BasicWriter::BasicWriter;

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
};

}  // namespace postino::wire
