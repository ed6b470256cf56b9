#include "item/json_decode.h"

#include <bit>
#include <optional>

#include "item/json_codec.h"
#include "item/json_reader.h"
#include "item/json_sets.h"
#include "item/size.h"

namespace postino::item {
namespace {

using Json = JsonReader::Json;
using JsonType = JsonReader::Type;

// What can be broken within one value, in the order in which DynamoDB looks: the first one is reported.
enum class Check { settled, number, null, empty_set, set_member, duplicates, nested, several_types, no_type };

constexpr std::string_view no_type =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
constexpr std::string_view several_types =
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";
constexpr std::string_view null_is_false =
    "One or more parameter values were invalid: Null attribute value types must have the value of true";

// Functions return false when JSON is of the wrong type; that ends the decoding, because DynamoDB checks the types of
// everything before any rule. A broken rule is only remembered, and the reading goes on.
class JsonDecoder {
 public:
  bool value(Json json, AttributeValue& out, int depth = 1) {
    if (depth > max_nesting) return break_rule(Check::nested, nesting_exceeded, base::Rule::nesting) && settle();
    JsonType type;
    if (!reader_.type_of(json, type)) return false;
    if (type == JsonType::null) return reader_.null(json) && break_rule(Check::no_type, no_type) && settle();
    simdjson::ondemand::object object;
    return reader_.value(json, object) && members(object, out, depth) && settle();
  }

  bool map(simdjson::ondemand::object object, Map& out, int depth = 1) {
    std::vector<Attribute> attributes;
    for (auto field : object) {
      std::string_view name;
      Json json;
      if (!reader_.field(field, name, json)) return false;
      Attribute& attribute = attributes.emplace_back();
      attribute.name.assign(name);
      if (!value(json, attribute.value, depth)) return false;
    }
    out = Map(std::move(attributes));
    return true;
  }

  JsonReader& reader() { return reader_; }

  // The outcome of the decoding, which told whether types were right.
  template <class T>
  base::Result<T> finish(bool well_typed, T&& value) {
    if (!well_typed) return base::propagate(std::move(reader_).error());
    if (broken_) return base::invalid(std::move(broken_->message), broken_->rule);
    return std::forward<T>(value);
  }

 private:
  struct Broken {
    Check check;
    std::string message;
    base::Rule rule;
  };

  // One member of a typed value: {"S": ...}.
  struct Member {
    std::string_view name;
    bool (JsonDecoder::*read)(Json json, AttributeValue& out, int depth);
  };
  static const Member known_members[10];

  // Returns true, because the reading goes on.
  bool break_rule(Check check, std::string_view message, base::Rule rule = base::Rule::other) {
    if (!broken_ || check < broken_->check) broken_ = Broken{check, std::string(message), rule};
    return true;
  }

  // The order of checks holds within a value; between values the first one counts.
  bool settle() {
    if (broken_) broken_->check = Check::settled;
    return true;
  }

  bool members(simdjson::ondemand::object object, AttributeValue& out, int depth) {
    unsigned seen = 0;
    for (auto field : object) {
      std::string_view name;
      Json json;
      JsonType type;
      if (!reader_.field(field, name, json)) return false;
      const auto* member = std::ranges::find(known_members, name, &Member::name);
      if (member == std::end(known_members)) continue;
      if (!reader_.type_of(json, type)) return false;
      if (type == JsonType::null) {
        if (!reader_.null(json)) return false;
        continue;
      }
      seen |= 1U << (member - known_members);
      if (!(this->*member->read)(json, out, depth)) return false;
    }
    if (seen == 0) break_rule(Check::no_type, no_type);
    if (std::popcount(seen) > 1) break_rule(Check::several_types, several_types);
    return true;
  }

  bool scalar(Json json, std::string& out, Check) {
    std::string_view text;
    if (!reader_.text(json, text)) return false;
    out.assign(text);
    return true;
  }

  bool scalar(Json json, Number& out, Check check) {
    std::string_view text;
    if (!reader_.text(json, text)) return false;
    const auto number = Number::parse(text);
    if (!number) return break_rule(check, number.error().message, base::Rule::number);
    out = *number;
    return true;
  }

  bool scalar(Json json, Binary& out, Check) { return reader_.bytes(json, out.bytes); }

  template <class Scalar>
  bool read_scalar(Json json, AttributeValue& out, int) {
    return scalar(json, out.emplace<Scalar>(), Check::number);
  }

  bool read_boolean(Json json, AttributeValue& out, int) { return reader_.boolean(json, out.emplace<bool>()); }

  bool read_null(Json json, AttributeValue& out, int) {
    bool is_null = false;
    if (!reader_.boolean(json, is_null)) return false;
    out.emplace<Null>();
    return is_null || break_rule(Check::null, null_is_false);
  }

  template <class SetMember>
  bool read_set(Json json, AttributeValue& out, int) {
    constexpr base::Rule rule = std::is_same_v<SetMember, Number> ? base::Rule::number : base::Rule::other;
    simdjson::ondemand::array array;
    if (!reader_.array(json, array)) return false;
    std::vector<SetMember> set;
    for (auto element : array) {
      Json each;
      JsonType type;
      if (!reader_.element(element, each) || !reader_.type_of(each, type)) return false;
      SetMember& member = set.emplace_back();
      const bool well_typed =
          type == JsonType::null
              ? reader_.null(each) && break_rule(Check::set_member, SetMessages<SetMember>::null_member, rule)
              : scalar(each, member, Check::set_member);
      if (!well_typed) return false;
    }
    if (set.empty()) return break_rule(Check::empty_set, SetMessages<SetMember>::empty, rule);
    if (has_duplicates(set)) return break_rule(Check::duplicates, duplicates_message(set), base::Rule::duplicates);
    out.emplace<Set<SetMember>>(std::move(set));
    return true;
  }

  bool read_list(Json json, AttributeValue& out, int depth) {
    simdjson::ondemand::array array;
    if (!reader_.array(json, array)) return false;
    auto outer = std::exchange(broken_, std::nullopt);
    List& list = out.emplace<List>();
    for (auto element : array) {
      Json each;
      if (!reader_.element(element, each) || !value(each, list.emplace_back(), depth + 1)) return false;
    }
    return leave(std::move(outer));
  }

  bool read_map(Json json, AttributeValue& out, int depth) {
    simdjson::ondemand::object object;
    if (!reader_.map(json, object)) return false;
    auto outer = std::exchange(broken_, std::nullopt);
    return map(object, out.emplace<Map>(), depth + 1) && leave(std::move(outer));
  }

  // What broke inside a list or map weighs against what else broke in the value that holds it.
  bool leave(std::optional<Broken> outer) {
    const auto inner = std::exchange(broken_, std::move(outer));
    return !inner || break_rule(Check::nested, inner->message, inner->rule);
  }

  JsonReader reader_;
  std::optional<Broken> broken_;
};

// The most frequent first.
constexpr JsonDecoder::Member JsonDecoder::known_members[10] = {
    {"S", &JsonDecoder::read_scalar<std::string>},
    {"N", &JsonDecoder::read_scalar<Number>},
    {"M", &JsonDecoder::read_map},
    {"L", &JsonDecoder::read_list},
    {"B", &JsonDecoder::read_scalar<Binary>},
    {"BOOL", &JsonDecoder::read_boolean},
    {"NULL", &JsonDecoder::read_null},
    {"SS", &JsonDecoder::read_set<std::string>},
    {"NS", &JsonDecoder::read_set<Number>},
    {"BS", &JsonDecoder::read_set<Binary>},
};

// One JSON text: read is given the document and its type.
template <class T, class Read>
base::Result<T> parse(std::string_view text, Read read) {
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  JsonType type = JsonType::null;
  JsonDecoder decoder;
  T out;
  bool well_typed = (!parser.iterate(padded).get(document) && !document.type().get(type)) || decoder.reader().broken();
  well_typed = well_typed && read(decoder, document, type, out);
  // Only at the end of the text is there no location.
  if (well_typed && !document.current_location().error()) well_typed = decoder.reader().broken();
  return decoder.finish<T>(well_typed, std::move(out));
}

}  // namespace

base::Result<AttributeValue> value_from_json(Json json) {
  JsonDecoder decoder;
  AttributeValue out;
  const bool well_typed = decoder.value(json, out);
  return decoder.finish<AttributeValue>(well_typed, std::move(out));
}

base::Result<Map> map_from_json(simdjson::ondemand::object json) {
  JsonDecoder decoder;
  Map out;
  const bool well_typed = decoder.map(json, out);
  return decoder.finish<Map>(well_typed, std::move(out));
}

base::Result<AttributeValue> parse_value(std::string_view text) {
  const auto read = [](JsonDecoder& decoder, auto& document, JsonType type, AttributeValue& out) {
    Json json;
    if (type != JsonType::object) return decoder.reader().not_a_value(type);
    return document.get_value().get(json) ? decoder.reader().broken() : decoder.value(json, out);
  };
  return parse<AttributeValue>(text, read);
}

base::Result<Map> parse_item(std::string_view text) {
  const auto read = [](JsonDecoder& decoder, auto& document, JsonType type, Map& out) {
    simdjson::ondemand::object json;
    if (type != JsonType::object) return decoder.reader().not_a_map(type);
    return document.get_object().get(json) ? decoder.reader().broken() : decoder.map(json, out);
  };
  return parse<Map>(text, read);
}

}  // namespace postino::item
