#include "exchange/ion_text.h"

#include <gtest/gtest.h>

#include "item/json_codec.h"

namespace postino::exchange {
namespace {

std::string as_json(std::string_view ion) {
  const auto read = parse_ion(ion);
  return read ? item::to_json(*read) : "refused: " + read.error().message;
}

std::string as_ion(std::string_view json) {
  std::string text;
  append_ion(text, item::parse_item(json).value());
  return text;
}

// In the form of the example in Amazon's documents of exports.
TEST(IonText, ReadsWhatDynamoDbHasExported) {
  EXPECT_EQ(as_json(R"($ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Dimensions:"8.5 x 11.0 x 1.5",)"
                    R"(ISBN:"333-3333333333",Id:103.,InPublication:false,PageCount:6d2,Price:2d3,)"
                    R"(ProductCategory:"Book",Title:"Book 103 Title"}})"),
            R"({"Item":{"M":{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},)"
            R"("ISBN":{"S":"333-3333333333"},"Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},)"
            R"("Price":{"N":"2000"},"ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}}})");
}

TEST(IonText, EveryTypeIsWrittenAndReadAgain) {
  const std::string json =
      R"({"a b":{"S":"it's \"quoted\"\n\\"},"b":{"B":"AAEC/w=="},"bs":{"BS":["AA==","AQ=="]},"f":{"BOOL":false},)"
      R"("l":{"L":[{"N":"1"},{"L":[]},{"M":{}}]},"m":{"M":{"k":{"S":""},"null":{"NULL":true}}},)"
      R"("n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"t":{"BOOL":true},"x":{"S":"€𝄞"}})";
  EXPECT_EQ(item::parse_item(as_json(as_ion(json))).value(), item::parse_item(json).value());
  EXPECT_EQ(as_ion(R"({"a b":{"N":"7"},"b":{"B":"AAEC"},"n":{"NS":["1"]},"s":{"S":"x"},"true":{"NULL":true}})"),
            R"({'a b':7.,b:{{AAEC}},n:$dynamodb_NS::[1.],s:"x",'true':null})");
}

TEST(IonText, NumbersKeepAllTheirDigits) {
  for (const std::string digits :
       {"0", "-1", "1.1", "12345678901234567890123456789012345678", "0.0000000000000000000012", "1E+125", "1E-130"}) {
    const item::Number number = item::Number::parse(digits).value();
    std::string text;
    append_ion_decimal(text, number.to_string());
    EXPECT_EQ(as_json("{n:" + text + "}"), R"({"n":{"N":")" + number.to_string() + R"("}})") << text;
  }
}

TEST(IonText, ReadsOtherFormsOfTheSame) {
  EXPECT_EQ(
      as_json("$ion_1_0\n// a comment\n{ /* another */ 'a' : '''one ''' '''two''', \"b\":[1, 2.5e1,],\n c: symbol}"),
      R"({"a":{"S":"one two"},"b":{"L":[{"N":"1"},{"N":"25"}]},"c":{"S":"symbol"}})");
  const auto read = parse_ion(R"({a:other::"x",b:null.string,c:"\x41\u20ac\U0001D11E",d:{{ AA EC }}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->find("a"), item::AttributeValue("x"));
  EXPECT_EQ(*read->find("b"), item::AttributeValue(item::Null()));
  EXPECT_EQ(*read->find("c"), item::AttributeValue("A€𝄞"));
  EXPECT_EQ(*read->find("d"), item::AttributeValue(item::Binary{std::string("\0\1\2", 3)}));
}

TEST(IonText, WhatCannotBeAnItemIsRefused) {
  for (const std::string text :
       {"", "[1]", "{a:1", "{a:\"x}", "{a:(1 2)}", "{a:{{\"clob\"}}}", "{a:2026-01-02T}", "{a:nan}", "{a:1} {b:2}",
        "{a:$dynamodb_SS::[1]}", "{a:$dynamodb_SS::[]}", "{a:$dynamodb_NS::[1,1]}", "{a:$dynamodb_XS::[1]}",
        "{a:1d999}", "{a 1}", "{a:\"\\q\"}", "{a:\"\\ud800x\"}"})
    EXPECT_FALSE(parse_ion(text)) << text;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{a:";
  EXPECT_FALSE(parse_ion(deep));
}

}  // namespace
}  // namespace postino::exchange
