#include "messages/canonical_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "json/string.h"

namespace postino::messages {

namespace {

using Member = std::pair<std::string, std::string>;  // its name, and its canonical text

std::string canonical(json::Element element) {
  std::string text;
  append_canonical(text, element);
  return text;
}

std::vector<Member> members_of(json::Element element) {
  std::vector<Member> members;
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return members;
  for (const auto [name, value] : object) members.emplace_back(name, canonical(value));
  return members;
}

void append_object(std::string& out, std::vector<Member> members) {
  std::ranges::stable_sort(members, {}, &Member::first);
  out += '{';
  bool first = true;
  for (const Member& member : members) {
    if (!std::exchange(first, false)) out += ',';
    json::append_string(out, member.first);
    out.append(":").append(member.second);
  }
  out += '}';
}

void append_number(std::string& out, double number) {
  constexpr double exact = 9'007'199'254'740'992;  // up to here an integer is the same however it is written
  if (std::trunc(number) == number && std::abs(number) <= exact) {
    out += std::to_string(static_cast<std::int64_t>(number));
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  out.append(text.data(), end);
}

}  // namespace

void append_canonical(std::string& out, json::Element element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::OBJECT:
      return append_object(out, members_of(element));
    case element_type::ARRAY: {
      simdjson::dom::array array;
      CHECK(element.get(array) == simdjson::SUCCESS);
      out += '[';
      bool first = true;
      for (const json::Element each : array) {
        if (!std::exchange(first, false)) out += ',';
        append_canonical(out, each);
      }
      out += ']';
      return;
    }
    case element_type::STRING:
      return json::append_string(out, element.get_string().value_unsafe());
    case element_type::INT64:
      out += std::to_string(element.get_int64().value_unsafe());
      return;
    case element_type::UINT64:
      out += std::to_string(element.get_uint64().value_unsafe());
      return;
    case element_type::DOUBLE:
      return append_number(out, element.get_double().value_unsafe());
    case element_type::BOOL:
      out += element.get_bool().value_unsafe() ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
  }
}

std::string canonical_with(json::Element object, const std::string& name, const std::string& value) {
  std::vector<Member> members = members_of(object);
  std::erase_if(members, [&](const Member& member) { return member.first == name; });
  std::string text;
  json::append_string(text, value);
  members.emplace_back(name, std::move(text));
  std::string out;
  append_object(out, std::move(members));
  return out;
}

}  // namespace postino::messages
