// Requests as JSON: the shapes of the protocol as tables of members, and the reader that fills structures from them.
//
// A shape is declared beside its structure:
//
//   struct TagInput { std::optional<std::string> key, value; };
//   template <> struct Shape<TagInput> {
//     static constexpr std::string_view name = "Tag";
//     static constexpr auto members = std::to_array<Member<TagInput>>({
//         member<TagInput, &TagInput::key>("Key"), member<TagInput, &TagInput::value>("Value")});
//   };
//
// DynamoDB checks the JSON types of a whole request before it looks at any rule. Reading therefore fails only for wrong
// types; a value that breaks a rule is kept with its fault, for the check that comes later.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "expr/placeholders.h"
#include "item/json_reader.h"
#include "item/value.h"

namespace postino::wire {

using Json = item::JsonReader::Json;

// An attribute value, or an item, as it was sent; `fault` is what is wrong with it.
struct ValueInput {
  item::AttributeValue value;
  std::optional<std::string> fault;
};
struct MapInput {
  item::Map map;
  std::optional<std::string> fault;
  base::Rule broken_rule = base::Rule::other;
};
// Expression attribute values; the fault names the key.
struct ValuesInput {
  expr::Values values;
  std::optional<std::string> fault;
};

class InputReader;

template <class T>
struct Member {
  std::string_view name;
  bool (*read)(InputReader& reader, Json json, T& out);
};

template <class T>
struct Shape;

template <class T>
concept Structure = requires {
  Shape<T>::members;
};

// Entries of a JSON object whose names are not known before, in the order in which they were sent.
template <class T>
using Entries = std::vector<std::pair<std::string, T>>;

class InputReader {
 public:
  // Every read function returns false when the JSON is of the wrong type; error() then says why.
  bool read(Json json, std::string& out);
  bool read(Json json, bool& out) { return reader_.boolean(json, out); }
  bool read(Json json, std::int32_t& out);
  bool read(Json json, std::int64_t& out) { return reader_.integer(json, out, "Long"); }
  bool read(Json json, base::TimePoint& out);  // seconds since the epoch, with a fraction
  bool read(Json json, ValueInput& out);
  bool read(Json json, MapInput& out);
  bool read(Json json, ValuesInput& out);
  bool read(Json json, expr::Names& out);

  template <class T>
  bool read(Json json, std::optional<T>& out) {
    return read(json, out.emplace());
  }

  template <Structure T>
  bool read(Json json, T& out, item::JsonReader::Place place = item::JsonReader::Place::member) {
    simdjson::ondemand::object object;
    return reader_.structure(json, object, Shape<T>::name, place) && read_members(object, out);
  }

  template <class T>
  bool read(Json json, std::vector<T>& out) {
    simdjson::ondemand::array array;
    if (!reader_.array(json, array)) return false;
    for (auto element : array) {
      Json each;
      if (!reader_.element(element, each) || !read_element(each, out.emplace_back())) return false;
    }
    return true;
  }

  template <class T>
  bool read(Json json, Entries<T>& out) {
    simdjson::ondemand::object object;
    if (!reader_.map(json, object, entry_class<T>())) return false;
    for (auto field : object) {
      std::string_view name;
      Json each;
      if (!reader_.field(field, name, each)) return false;
      auto& entry = out.emplace_back();
      entry.first.assign(name);
      if (!read_element(each, entry.second)) return false;
    }
    return true;
  }

  // Members that are unknown or null are ignored.
  template <Structure T>
  bool read_members(simdjson::ondemand::object object, T& out) {
    for (auto field : object) {
      std::string_view name;
      Json json;
      if (!reader_.field(field, name, json)) return false;
      const Member<T>* member = find(Shape<T>::members, name);
      if (member == nullptr) continue;
      bool is_null = false;
      if (json.is_null().get(is_null)) return reader_.broken();
      if (!is_null && !member->read(*this, json, out)) return false;
    }
    return true;
  }

  base::Error error() && { return std::move(reader_).error(); }

 private:
  template <class Members>
  static auto find(const Members& members, std::string_view name) -> decltype(members.data()) {
    for (const auto& member : members)
      if (member.name == name) return &member;
    return nullptr;
  }

  template <class T>
  bool read_element(Json json, T& out) {
    if constexpr (Structure<T>)
      return read(json, out, item::JsonReader::Place::collection);
    else
      return read(json, out);
  }

  template <class T>
  static std::string entry_class() {
    constexpr const char* package = "com.amazonaws.dynamodb.v20120810.";
    if constexpr (Structure<T>)
      return package + std::string(Shape<T>::name);
    else  // a list of structures
      return std::string("java.util.List<") + package + std::string(Shape<typename T::value_type>::name) + ">";
  }

  item::JsonReader reader_;
};

template <class T, auto pointer>
constexpr Member<T> member(std::string_view name) {
  return {name, [](InputReader& reader, Json json, T& out) { return reader.read(json, out.*pointer); }};
}

// Reads a request's body, or fails with ErrorCode::malformed; no message when it is not JSON at all.
template <Structure T>
base::Result<T> read_input(std::string_view body);

// The document of a body, in a buffer of this thread that lives until the next call.
base::Result<simdjson::ondemand::object> open_document(std::string_view body);
// Nothing but white space may follow the document.
bool at_end_of_document();

template <Structure T>
base::Result<T> read_input(std::string_view body) {
  InputReader reader;
  TRY(auto object, open_document(body));
  T out;
  if (!reader.read_members(object, out)) return base::propagate(std::move(reader).error());
  if (!at_end_of_document()) return base::fail(base::ErrorCode::malformed, "");
  return out;
}

// Whether a body is JSON at all; what it means does not matter.
bool is_json(std::string_view body);

}  // namespace postino::wire
