#include "json/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "json/string.h"

namespace postino::json {

namespace {

using CanonicalMember = std::pair<std::string, std::string>;  // its name, and its canonical text

std::vector<CanonicalMember> canonical_members(Element object) {
  std::vector<CanonicalMember> members;
  for (const auto& [name, value] : object.members()) {
    members.emplace_back(name, std::string());
    append_canonical(members.back().second, value);
  }
  return members;
}

void append_object(std::string& out, std::vector<CanonicalMember> members) {
  std::ranges::stable_sort(members, {}, &CanonicalMember::first);
  out += '{';
  bool first = true;
  for (const CanonicalMember& member : members) {
    if (!std::exchange(first, false)) out += ',';
    append_string(out, member.first);
    out.append(":").append(member.second);
  }
  out += '}';
}

void append_array(std::string& out, Element array) {
  out += '[';
  bool first = true;
  for (const Element each : array.elements()) {
    if (!std::exchange(first, false)) out += ',';
    append_canonical(out, each);
  }
  out += ']';
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

void append_canonical(std::string& out, Element element) {
  switch (element.type()) {
    case Element::Type::object:
      return append_object(out, canonical_members(element));
    case Element::Type::array:
      return append_array(out, element);
    case Element::Type::string:
      return append_string(out, *element.text());
    case Element::Type::number:
      return append_number(out, *element.number());
    case Element::Type::integer:
      out += std::to_string(*element.integer());
      return;
    case Element::Type::unsigned_integer:
      out += std::to_string(*element.unsigned_integer());
      return;
    case Element::Type::boolean:
      out += *element.boolean() ? "true" : "false";
      return;
    case Element::Type::null:
      out += "null";
  }
}

std::string canonical_with(Element object, const std::string& name, const std::string& value) {
  std::vector<CanonicalMember> members = canonical_members(object);
  std::erase_if(members, [&](const CanonicalMember& member) { return member.first == name; });
  std::string text;
  append_string(text, value);
  members.emplace_back(name, std::move(text));
  std::string out;
  append_object(out, std::move(members));
  return out;
}

}  // namespace postino::json
