// Compares the limits that schemas of requests state with those that requests are held to.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/schemas.h"
#include "json/fields.h"

namespace postino::api {

// The JSON of a value of this size: a length, a count, or the number itself.
using Sample = std::function<std::string(std::int64_t size)>;

struct LimitCase {
  std::string body;  // with a dollar sign where the value stands
  Sample sample;
  std::int64_t smallest = 0;  // size that a sample can have
  bool takes_most = true;     // false: another rule refuses it, which the schema describes in words
};
using LimitCases = std::map<std::string, LimitCase>;  // by path and type

struct Stated {
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;
};

inline void collect(const Schema& schema, const std::string& path, std::map<std::string, Stated>& stated) {
  const Schema& own = resolved(schema);
  if (own.least || own.most) stated[path + ":" + std::string(own.type)] = {own.least, own.most};
  for (const Property& property : own.properties)
    collect(property.schema, (path.empty() ? "" : path + ".") + std::string(property.name), stated);
  for (const Schema& element : own.elements) collect(element, path + (own.type == "array" ? "[]" : "{}"), stated);
  for (const std::vector<Schema>* const others : {&own.alternatives, &own.parts})
    for (const Schema& each : *others) collect(each, path, stated);
}

inline std::string in_quotes(const std::string& text) { return '"' + text + '"'; }
inline std::string letters(std::int64_t size) { return std::string(static_cast<std::size_t>(size), 'a'); }

// What a text of this size begins with and ends with; letters are between.
inline Sample text(const std::string& begin = "", const std::string& end = "") {
  return [=](std::int64_t size) {
    return in_quotes(begin + letters(size - static_cast<std::int64_t>(begin.size() + end.size())) + end);
  };
}

inline std::string number(std::int64_t size) { return std::to_string(size); }

// An address is not that long: spaces around it do no harm.
inline std::string padded_address(std::int64_t size) {
  std::string text = "ann@example.com";
  text.resize(static_cast<std::size_t>(size), ' ');
  return in_quotes(text);
}
inline constexpr std::int64_t shortest_address = 15;

// A line of the message can be folded only at spaces.
inline std::string words(std::int64_t size) {
  std::string text = letters(size);
  for (std::size_t i = 50; i + 1 < text.size(); i += 50) text[i] = ' ';
  return in_quotes(text);
}

// A name at the end of a path has at most 255 bytes.
inline std::string long_path(std::int64_t size) {
  return in_quotes(size < 3 ? letters(size) : letters(size - 2) + "/a");
}

inline Sample array_of(const std::string& element) {
  return [=](std::int64_t size) {
    std::string list = "[";
    for (std::int64_t i = 0; i < size; ++i) list.append(i == 0 ? "" : ",").append(element);
    return list + "]";
  };
}

inline std::string object(std::int64_t size) {
  std::string members = "{";
  for (std::int64_t i = 0; i < size; ++i)
    members.append(i == 0 ? "" : ",").append("\"X-").append(std::to_string(i)).append("\":\"v\"");
  return members + "}";
}
inline std::string object_of_headers(std::int64_t size) {
  std::string members = object(size);
  for (char& letter : members)
    if (letter == 'X') letter = 'x';
  return members;
}

inline std::string with_value(const LimitCase& limit, std::int64_t size) {
  const std::size_t at = limit.body.find('$');
  return limit.body.substr(0, at) + limit.sample(size) + limit.body.substr(at + 1);
}

// What is wrong with the body, in the words of the API.
using Reader = std::function<std::string(const std::string& body)>;

inline std::string noted(const json::FieldErrors& errors) {
  std::string text;
  for (const json::FieldError& error : errors.list())
    text.append(error.field).append(" ").append(error.rule).append("; ");
  return text;
}

inline void expect_limits(std::string_view schema, const LimitCases& cases, const Reader& faults) {
  std::map<std::string, Stated> stated;
  collect(schema_named(schema), "", stated);
  for (const auto& [path, limits] : stated) EXPECT_TRUE(cases.contains(path)) << path << " has no case";
  for (const auto& [path, limit] : cases) {
    ASSERT_TRUE(stated.contains(path)) << path << " has no limit";
    const Stated& limits = stated.at(path);
    if (limits.least && *limits.least >= limit.smallest) {
      EXPECT_EQ(faults(with_value(limit, *limits.least)), "") << path;
    }
    if (limits.least && *limits.least > 0) {
      EXPECT_NE(faults(with_value({limit.body, limit.smallest > 0 ? text() : limit.sample}, *limits.least - 1)), "")
          << path;
    }
    if (limits.most && limit.takes_most) {
      EXPECT_EQ(faults(with_value(limit, *limits.most)), "") << path;
    }
    if (limits.most) {
      EXPECT_NE(faults(with_value(limit, *limits.most + 1)), "") << path;
    }
  }
}

}  // namespace postino::api
