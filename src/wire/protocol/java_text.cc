#include "wire/protocol/java_text.h"

#include <array>
#include <string_view>

#include "base/base64.h"
#include "item/json_codec.h"

namespace postino::wire {

namespace {

// Members of the Java class, in its order.
constexpr std::array<std::pair<std::string_view, item::Type>, 10> members = {{
    {"s", item::Type::string},
    {"n", item::Type::number},
    {"b", item::Type::binary},
    {"ss", item::Type::string_set},
    {"ns", item::Type::number_set},
    {"bs", item::Type::binary_set},
    {"m", item::Type::map},
    {"l", item::Type::list},
    {"nULL", item::Type::null},
    {"bOOL", item::Type::boolean},
}};

std::string text_of(const std::string& text) { return text; }
std::string text_of(const item::Number& number) { return number.to_string(); }
std::string text_of(const item::Binary& binary) { return base::to_base64(binary.bytes); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(item::Null) { return "true"; }
std::string text_of(const item::Map& map) { return java_text(map); }

template <class Elements, class Print>
std::string list_of(const Elements& elements, Print print) {
  std::string text = "[";
  for (const auto& element : elements) {
    if (text.size() > 1) text += ", ";
    text += print(element);
  }
  return text + "]";
}

template <class SetMember>
std::string text_of(const item::Set<SetMember>& set) {
  return list_of(set.members(), [](const SetMember& member) { return text_of(member); });
}
std::string text_of(const item::List& list) {
  return list_of(list, [](const item::AttributeValue& value) { return java_text(value); });
}

}  // namespace

std::string java_text(const item::AttributeValue& value) {
  std::string text = "AttributeValue(";
  for (const auto& [name, type] : members) {
    if (!text.ends_with('(')) text += ", ";
    text.append(name).append("=");
    text += type == value.type() ? std::visit([](const auto& content) { return text_of(content); }, value.storage())
                                 : "null";
  }
  return text + ")";
}

std::string java_text(const item::Map& map) {
  std::string text = "{";
  for (const item::Attribute& attribute : map) {
    if (text.size() > 1) text += ", ";
    text.append(attribute.name).append("=").append(java_text(attribute.value));
  }
  return text + "}";
}

}  // namespace postino::wire
