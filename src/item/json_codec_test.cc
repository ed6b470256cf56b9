#include "item/json_codec.h"

#include <gmock/gmock.h>

#include "item/json_decode.h"
#include "item/random_values_testing.h"

namespace postino::item {
namespace {

using base::Error;
using base::ErrorCode;

Error malformed(std::string message) { return {ErrorCode::malformed, std::move(message)}; }
Error invalid(std::string message) { return {ErrorCode::invalid, std::move(message)}; }
Error parameter(const std::string& message) { return invalid("One or more parameter values were invalid: " + message); }

const Error not_json = malformed("");
const Error empty_value =
    invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
const Error several_types = invalid(
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
const Error too_deep = invalid(
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit");

Error value_error(std::string_view json) {
  const auto value = parse_value(json);
  return value ? Error{ErrorCode::io, "no error"} : value.error();
}
Error item_error(std::string_view json) {
  const auto item = parse_item(json);
  return item ? Error{ErrorCode::io, "no error"} : item.error();
}
AttributeValue value(std::string_view json) {
  auto result = parse_value(json);
  EXPECT_TRUE(result) << json << ": " << result.error().message;
  return result.value_or(AttributeValue());
}
Number parsed_number(std::string_view text) { return Number::parse(text).value(); }

TEST(JsonDecode, ReadsEveryType) {
  EXPECT_EQ(value(R"({"S":"a\u00e4\n"})"), AttributeValue("a\xC3\xA4\n"));
  EXPECT_EQ(value(R"({"S":""})"), AttributeValue(""));
  EXPECT_EQ(value(R"({"N":"1.50"})"), AttributeValue(parsed_number("1.5")));
  EXPECT_EQ(value(R"({"B":"AP8="})"), AttributeValue(Binary{std::string("\0\xFF", 2)}));
  EXPECT_EQ(value(R"({"BOOL":true})"), AttributeValue(true));
  EXPECT_EQ(value(R"({"BOOL":false})"), AttributeValue(false));
  EXPECT_EQ(value(R"({"NULL":true})"), AttributeValue(Null{}));
  EXPECT_EQ(value(R"({"SS":["b","a",""]})"), AttributeValue(StringSet({"a", "b", ""})));
  EXPECT_EQ(value(R"({"NS":["2","10"]})"), AttributeValue(NumberSet({2, 10})));
  EXPECT_EQ(value(R"({"BS":["Yg==",""]})"), AttributeValue(BinarySet({Binary{"b"}, Binary{""}})));
  EXPECT_EQ(value(R"({"L":[{"S":"a"},{"L":[]}]})"), AttributeValue(List{"a", List{}}));
  EXPECT_EQ(value(R"({"M":{"b":{"N":"1"},"a":{"M":{}}}})"), AttributeValue(Map{{"a", Map{}}, {"b", 1}}));
}

TEST(JsonDecode, ReadsItems) {
  EXPECT_EQ(parse_item(R"( {"pk" : {"S":"x"}, "a\"b" : {"N":"1"}} )").value(), (Map{{"pk", "x"}, {"a\"b", 1}}));
  EXPECT_EQ(parse_item("{}").value(), Map{});
  // Of equal names the last one stays.
  EXPECT_EQ(parse_item(R"({"a":{"S":"1"},"b":{"S":"2"},"a":{"S":"3"}})").value(), (Map{{"a", "3"}, {"b", "2"}}));
}

// As the wire reads it: one part of a request, with more behind it.
TEST(JsonDecode, LeavesTheRestOfARequestReadable) {
  const simdjson::padded_string request(
      std::string(R"({"Item":{"a":{"N":"x"}},"Key":{"a":{"S":"b"}},"Values":[{"N":"1"}],"Limit":5})"));
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(request);
  EXPECT_EQ(map_from_json(document["Item"].get_object().value()).error(),
            invalid("The parameter cannot be converted to a numeric value: x"));
  EXPECT_EQ(map_from_json(document["Key"].get_object().value()).value(), (Map{{"a", "b"}}));
  for (auto element : document["Values"].get_array())
    EXPECT_EQ(value_from_json(element.value()).value(), AttributeValue(1));
  EXPECT_EQ(document["Limit"].get_int64().value(), 5);
}

TEST(JsonDecode, IgnoresNullAndUnknownMembers) {
  EXPECT_EQ(value(R"({"N":null,"S":"a","X":[{"deep":1}]})"), AttributeValue("a"));
  EXPECT_EQ(value_error(R"({"S":null})"), empty_value);
  EXPECT_EQ(value_error(R"({"X":"a"})"), empty_value);
  EXPECT_EQ(value_error(R"({"L":[null]})"), empty_value);
  EXPECT_EQ(item_error(R"({"a":null})"), empty_value);
}

TEST(JsonDecode, WantsExactlyOneType) {
  EXPECT_EQ(value_error("{}"), empty_value);
  EXPECT_EQ(value_error(R"({"S":"a","N":"1"})"), several_types);
  EXPECT_EQ(value(R"({"S":"a","S":"b"})"), AttributeValue("b"));
}

TEST(JsonDecode, ConvertsWordsToBooleans) {
  for (const std::string word : {"true", "1", "yes"})
    EXPECT_EQ(value(R"({"BOOL":")" + word + R"("})"), AttributeValue(true)) << word;
  for (const std::string word : {"false", "0", "no"})
    EXPECT_EQ(value(R"({"BOOL":")" + word + R"("})"), AttributeValue(false)) << word;
  EXPECT_EQ(value_error(R"({"BOOL":"maybe"})"), malformed("Unexpected token received from parser"));
  EXPECT_EQ(value_error(R"({"BOOL":1})"), malformed("NUMBER_VALUE cannot be converted to Boolean"));
}

TEST(JsonDecode, RefusesWrongJsonTypes) {
  const std::string map = "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";
  const std::string object = "Start of structure or map found where not expected";
  const std::string bytes = "only base-64-encoded strings are convertible to bytes";
  const std::pair<const char*, std::string> wrong[] = {
      {R"({"S":1})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"S":-1.5})", "DECIMAL_VALUE cannot be converted to String"},
      {R"({"N":true})", "TRUE_VALUE cannot be converted to String"},
      {R"({"N":false})", "FALSE_VALUE cannot be converted to String"},
      {R"({"N":1})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"S":{}})", object},
      {R"({"S":["a"]})", "Unrecognized collection type class java.lang.String"},
      {R"({"B":1})", bytes},
      {R"({"B":true})", bytes},
      {R"({"B":{}})", object},
      {R"({"BOOL":{}})", object},
      {R"({"SS":"a"})", "Unexpected field type"},
      {R"({"SS":{"a":1}})", object},
      {R"({"SS":[1]})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"NS":[1]})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"BS":[1]})", bytes},
      {R"({"L":1})", "Unexpected field type"},
      {R"({"L":{}})", object},
      {R"({"L":["a"]})", "Unexpected value type in payload"},
      {R"({"M":"a"})", "Unexpected field type"},
      {R"({"M":[]})", "Unrecognized collection type " + map},
      {R"({"M":{"a":"b"}})", "Unexpected value type in payload"},
      {R"("a")", "Unexpected value type in payload"},
  };
  for (const auto& [json, message] : wrong) EXPECT_EQ(value_error(json), malformed(message)) << json;
  EXPECT_EQ(item_error("[]"), malformed("Unrecognized collection type " + map));
  EXPECT_EQ(item_error("1"), malformed("Unexpected field type"));
  EXPECT_EQ(item_error(R"({"a":1})"), malformed("Unexpected value type in payload"));
}

TEST(JsonDecode, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "}",
                           R"({"S")",
                           R"({"S":)",
                           R"({"S":"a")",
                           R"({"S":"a})",
                           R"({"S":"a"}})",
                           R"({"S":"a"} x)",
                           R"({"S":"a"}{})",
                           R"({"S" "a"})",
                           R"({"S":trux})",
                           R"({"BOOL":tru})",
                           R"({"S":nul})",
                           R"({"S":"\x"})",
                           R"({"S":"\ud800"})",
                           "{\"S\":\"\xFF\"}",
                           "{S:1}",
                           R"({"L":[{"S":"a"})",
                           R"({"L":[{"S":"a"},]})"})
    EXPECT_EQ(value_error(text).code, ErrorCode::malformed) << text;
  EXPECT_EQ(value_error("{\"S\":\"a\nb\"}"), not_json);
  EXPECT_EQ(item_error(R"({"a":{"S":"a"})"), not_json);
}

TEST(JsonDecode, PassesOnWhatIsWrongWithNumbers) {
  EXPECT_EQ(value_error(R"({"N":""})"), invalid("The parameter cannot be converted to a numeric value"));
  EXPECT_EQ(value_error(R"({"N":"b"})"), invalid("The parameter cannot be converted to a numeric value: b"));
  EXPECT_EQ(value_error(R"({"NS":["1","b","c"]})"), invalid("The parameter cannot be converted to a numeric value: b"));
}

TEST(JsonDecode, RefusesEmptySets) {
  EXPECT_EQ(value_error(R"({"SS":[]})"), parameter("An string set  may not be empty"));
  EXPECT_EQ(value_error(R"({"NS":[]})"), parameter("An number set  may not be empty"));
  EXPECT_EQ(value_error(R"({"BS":[]})"), parameter("Binary sets should not be empty"));
}

TEST(JsonDecode, RefusesDuplicatesInSets) {
  EXPECT_EQ(value_error(R"({"SS":["b","a","b"]})"), parameter("Input collection [b, a, b] contains duplicates."));
  EXPECT_EQ(value_error(R"({"BS":["Yg==","YQ==","Yg=="]})"),
            parameter("Input collection [Yg==, YQ==, Yg==]of type BS contains duplicates."));
  EXPECT_EQ(value_error(R"({"NS":["1","2","1.0"]})"), invalid("Input collection contains duplicates"));
}

TEST(JsonDecode, RefusesNullFalse) {
  EXPECT_EQ(value_error(R"({"NULL":false})"), parameter("Null attribute value types must have the value of true"));
}

TEST(JsonDecode, ReportsTheFirstRuleWithinAValue) {
  const Error number_fault = invalid("The parameter cannot be converted to a numeric value: x");
  const Error null_fault = parameter("Null attribute value types must have the value of true");
  const Error empty_fault = parameter("An string set  may not be empty");
  const Error duplicates = parameter("Input collection [a, a] contains duplicates.");
  EXPECT_EQ(value_error(R"({"NULL":false,"N":"x"})"), number_fault);
  EXPECT_EQ(value_error(R"({"SS":[],"NULL":false})"), null_fault);
  EXPECT_EQ(value_error(R"({"NS":["x"],"SS":[]})"), empty_fault);
  EXPECT_EQ(value_error(R"({"SS":["a","a"],"NS":["x"]})"), number_fault);
  EXPECT_EQ(value_error(R"({"M":{"b":{"N":"x"}},"SS":["a","a"]})"), duplicates);
  EXPECT_EQ(value_error(R"({"SS":["a","a"],"M":{"b":{"N":"x"}}})"), duplicates);
  EXPECT_EQ(value_error(R"({"SS":["a","a"],"L":[{"N":"x"}]})"), duplicates);
  EXPECT_EQ(value_error(R"({"S":"a","L":[{"N":"x"}]})"), number_fault);
  EXPECT_EQ(value_error(R"({"S":"a","L":[{}]})"), empty_value);
}

TEST(JsonDecode, ReportsTheFirstOfSeveralBadValues) {
  EXPECT_EQ(item_error(R"({"a":{"SS":[]},"b":{"N":"x"}})"), parameter("An string set  may not be empty"));
  EXPECT_EQ(value_error(R"({"L":[{},{"N":"x"}]})"), empty_value);
}

TEST(JsonDecode, ChecksJsonTypesBeforeAnyRule) {
  EXPECT_EQ(item_error(R"({"a":{"N":"x"},"b":{"S":1}})"), malformed("NUMBER_VALUE cannot be converted to String"));
  EXPECT_EQ(item_error(R"({"a":{"SS":[]},"b":{"L":[{"B":"a"}]}})"),
            malformed("Base64 encoded length is expected a multiple of 4 bytes but found: 1"));
}

std::string nested(int lists, const std::string& leaf) {
  std::string json;
  for (int i = 0; i < lists; ++i) json += R"({"L":[)";
  json += leaf;
  for (int i = 0; i < lists; ++i) json += "]}";
  return json;
}

TEST(JsonDecode, NestsTo32Levels) {
  EXPECT_TRUE(parse_value(nested(31, R"({"S":"a"})")));
  EXPECT_EQ(value_error(nested(32, R"({"S":"a"})")), too_deep);
  EXPECT_TRUE(parse_item(R"({"a":)" + nested(31, R"({"S":"a"})") + "}"));
  EXPECT_EQ(item_error(R"({"a":)" + nested(32, R"({"S":"a"})") + "}"), too_deep);
}

TEST(JsonDecode, NamesTheRulesThatCallersLookFor) {
  EXPECT_EQ(value_error(R"({"N":"b"})").rule, base::Rule::number);
  EXPECT_EQ(value_error(R"({"NS":[]})").rule, base::Rule::number);
  EXPECT_EQ(value_error(R"({"NS":[null]})").rule, base::Rule::number);
  EXPECT_EQ(value_error(R"({"L":[{"N":"b"}]})").rule, base::Rule::number);
  EXPECT_EQ(value_error(R"({"SS":["a","a"]})").rule, base::Rule::duplicates);
  EXPECT_EQ(value_error(R"({"NS":["1","1"]})").rule, base::Rule::duplicates);
  EXPECT_EQ(value_error(R"({"SS":[]})").rule, base::Rule::other);
  EXPECT_EQ(value_error(R"({"NULL":false})").rule, base::Rule::other);
  EXPECT_EQ(value_error(nested(32, R"({"S":"a"})")).rule, base::Rule::nesting);
}

TEST(JsonDecode, IsSafeOnAnyDepth) {
  EXPECT_EQ(value_error(nested(1'000, R"({"S":"a"})")), too_deep);
  EXPECT_EQ(value_error(nested(200'000, R"({"S":"a"})")), too_deep);
  EXPECT_EQ(value_error(R"({"X":)" + nested(200'000, "1") + "}"), empty_value);
  EXPECT_EQ(value_error(std::string(1'000'000, '[')).code, ErrorCode::malformed);
  EXPECT_EQ(value_error(R"({"S":)" + std::string(1'000'000, '[')).code, ErrorCode::malformed);
}

TEST(JsonEncode, WritesEveryType) {
  EXPECT_EQ(to_json(AttributeValue("a\"b")), R"({"S":"a\"b"})");
  EXPECT_EQ(to_json(AttributeValue(parsed_number("1e3"))), R"({"N":"1000"})");
  EXPECT_EQ(to_json(AttributeValue(Binary{std::string("\0\xFF", 2)})), R"({"B":"AP8="})");
  EXPECT_EQ(to_json(AttributeValue(true)), R"({"BOOL":true})");
  EXPECT_EQ(to_json(AttributeValue(false)), R"({"BOOL":false})");
  EXPECT_EQ(to_json(AttributeValue(Null{})), R"({"NULL":true})");
  EXPECT_EQ(to_json(AttributeValue(StringSet({"b", "a"}))), R"({"SS":["a","b"]})");
  EXPECT_EQ(to_json(AttributeValue(NumberSet({10, 9}))), R"({"NS":["9","10"]})");
  EXPECT_EQ(to_json(AttributeValue(BinarySet({Binary{"b"}}))), R"({"BS":["Yg=="]})");
  EXPECT_EQ(to_json(AttributeValue(List{})), R"({"L":[]})");
  EXPECT_EQ(to_json(AttributeValue(List{1, "a"})), R"({"L":[{"N":"1"},{"S":"a"}]})");
  EXPECT_EQ(to_json(AttributeValue(Map{{"b", 1}, {"\n", Map{}}})), R"({"M":{"\n":{"M":{}},"b":{"N":"1"}}})");
  EXPECT_EQ(to_json(Map{{"pk", "x"}, {"a", 1}}), R"({"a":{"N":"1"},"pk":{"S":"x"}})");
  EXPECT_EQ(to_json(Map{}), "{}");
}

TEST(JsonCodec, SurvivesTheRoundTrip) {
  RandomValues random;
  for (int i = 0; i < 5'000; ++i) {
    const Map map = random.map(5);
    const std::string json = to_json(map);
    ASSERT_EQ(parse_item(json).value(), map) << json << ", seed " << random.seed;
  }
}

}  // namespace
}  // namespace postino::item
