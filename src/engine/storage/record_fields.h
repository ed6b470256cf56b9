// Reading and writing the fields of catalog records. A field that is missing or of another type reads as its default:
// older versions did not have it yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "item/value.h"

namespace postino::engine {

class RecordReader {
 public:
  explicit RecordReader(const item::Map& map) : map_(&map) {}

  std::string text(std::string_view name) const;
  std::optional<std::string> optional_text(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::optional<std::string> optional_bytes(std::string_view name) const;
  std::optional<base::TimePoint> optional_time(std::string_view name) const;
  base::TimePoint time(std::string_view name) const { return optional_time(name).value_or(base::TimePoint()); }
  template <class Enum>
  Enum enumeration(std::string_view name) const {
    return static_cast<Enum>(integer(name));
  }
  template <class Enum>
  std::optional<Enum> optional_enumeration(std::string_view name) const {
    const auto value = optional_integer(name);
    return value ? std::optional<Enum>(static_cast<Enum>(*value)) : std::nullopt;
  }
  std::optional<RecordReader> map(std::string_view name) const;
  std::vector<RecordReader> maps(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;

 private:
  const item::Map* map_;
};

class RecordWriter {
 public:
  RecordWriter& text(std::string name, std::string value);
  RecordWriter& text(std::string name, const std::optional<std::string>& value);
  RecordWriter& integer(std::string name, std::int64_t value);
  RecordWriter& integer(std::string name, std::optional<std::int64_t> value);
  RecordWriter& boolean(std::string name, bool value);
  RecordWriter& bytes(std::string name, std::string value);
  RecordWriter& time(std::string name, std::optional<base::TimePoint> value);
  template <class Enum>
  RecordWriter& enumeration(std::string name, Enum value) {
    return integer(std::move(name), static_cast<std::int64_t>(value));
  }
  template <class Enum>
  RecordWriter& enumeration(std::string name, std::optional<Enum> value) {
    return value ? enumeration(std::move(name), *value) : *this;
  }
  RecordWriter& map(std::string name, RecordWriter value);
  template <class Range, class Writer>
  RecordWriter& maps(std::string name, const Range& range, Writer write) {
    item::List list;
    for (const auto& element : range) list.emplace_back(write(element).take());
    map_.set(std::move(name), std::move(list));
    return *this;
  }
  RecordWriter& texts(std::string name, const std::vector<std::string>& values);

  item::Map take() { return std::move(map_); }

 private:
  item::Map map_;
};

}  // namespace postino::engine
