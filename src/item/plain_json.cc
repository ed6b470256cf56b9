#include "item/plain_json.h"

#include "base/base64.h"
#include "item/size.h"
#include "json/writer.h"

namespace postino::item {

namespace {

struct PlainWriter {
  json::Writer& writer;

  void operator()(const std::string& text) const { writer.string(text); }
  void operator()(const Number& number) const { writer.raw(number.to_string()); }
  void operator()(const Binary& binary) const { writer.string(base::to_base64(binary.bytes)); }
  void operator()(bool value) const { writer.boolean(value); }
  void operator()(Null) const { writer.null(); }
  template <class Member>
  void operator()(const Set<Member>& set) const {
    writer.begin_array();
    for (const Member& member : set.members()) (*this)(member);
    writer.end_array();
  }
  void operator()(const List& list) const {
    writer.begin_array();
    for (const AttributeValue& value : list) std::visit(*this, value.storage());
    writer.end_array();
  }
  void operator()(const Map& map) const {
    writer.begin_object();
    for (const Attribute& each : map) {
      writer.any_key(each.name);
      std::visit(*this, each.value.storage());
    }
    writer.end_object();
  }
};

}  // namespace

std::string to_plain_json(const AttributeValue& value) {
  std::string text;
  json::Writer writer(text);
  std::visit(PlainWriter{writer}, value.storage());
  return text;
}

std::string to_plain_json(const Map& item) {
  std::string text;
  json::Writer writer(text);
  PlainWriter{writer}(item);
  return text;
}

AttributeValue from_plain_json(json::Element element) {
  using enum json::Element::Type;
  switch (element.type()) {
    case null:
      return Null();
    case boolean:
      return *element.boolean();
    case integer:
      return *element.integer();
    case unsigned_integer:
    case number: {
      std::string text = element.compact();
      if (const auto exact = Number::parse(text)) return *exact;
      return text;
    }
    case string:
      return *element.text();
    case array: {
      List list;
      for (const json::Element each : element.elements()) list.push_back(from_plain_json(each));
      return list;
    }
    case object: {
      std::vector<Attribute> attributes;
      for (const auto& [name, value] : element.members())
        attributes.push_back({std::string(name), from_plain_json(value)});
      return Map(std::move(attributes));
    }
  }
  return Null();
}

base::Result<AttributeValue> parse_plain_json(std::string_view text) {
  json::FieldErrors errors;
  json::Document document;
  if (json::has_too_many_values(text) || !document.parse(text, errors))
    return base::fail(base::ErrorCode::malformed, "must be JSON");
  AttributeValue value = from_plain_json(document.root());
  if (!check_nesting(value)) return base::fail(base::ErrorCode::malformed, "must not be nested so deeply");
  return value;
}

std::optional<Map> map_or_json(const AttributeValue& value) {
  if (const auto* const map = value.get_if<Map>()) return *map;
  const auto* const text = value.get_if<std::string>();
  if (text == nullptr) return std::nullopt;
  auto parsed = parse_plain_json(*text);
  auto* const read = parsed ? parsed->get_if<Map>() : nullptr;
  return read != nullptr ? std::optional(std::move(*read)) : std::nullopt;
}

}  // namespace postino::item
