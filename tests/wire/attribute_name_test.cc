// Attributes without a name, and with one that is too long, are refused wherever they appear.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

struct Place {
  std::string operation;
  std::string parameters;  // with NAME where the name goes
  std::string wrapping = "MESSAGE";
};

class AttributeNameTest : public EndpointTest {
 protected:
  AttributeNameTest() { create_table("tbl"); }

  static std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
      text.replace(at, what.size(), with);
    return text;
  }

  static std::vector<Place> places() {
    const std::string in_names = "ExpressionAttributeNames contains invalid value: MESSAGE for key #a";
    const std::string key = R"({"TableName":"tbl","Key":{"pk":{"S":"a"}},)";
    const std::string eq = R"({"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]})";
    return {
        {"PutItem", R"({"TableName":"tbl","Item":{"pk":{"S":"a"},"NAME":{"S":"x"}}})"},
        {"UpdateItem", key + R"("AttributeUpdates":{"NAME":{"Value":{"S":"x"}}}})"},
        {"UpdateItem", key + R"("Expected":{"NAME":{"Exists":false}}})"},
        {"GetItem", key + R"("AttributesToGet":["pk","NAME"]})"},
        {"Scan", R"({"TableName":"tbl","AttributesToGet":["NAME"]})"},
        {"Scan", R"({"TableName":"tbl","ScanFilter":{"NAME":)" + eq + "}}"},
        {"Query", R"({"TableName":"tbl","KeyConditions":{"NAME":)" + eq + "}}"},
        {"BatchGetItem", R"({"RequestItems":{"tbl":{"Keys":[{"pk":{"S":"a"}}],"AttributesToGet":["NAME"]}}})"},
        {"BatchWriteItem", R"({"RequestItems":{"tbl":[{"PutRequest":{"Item":{"pk":{"S":"a"},"NAME":{"S":"x"}}}}]}})"},
        {"UpdateItem", key + R"("UpdateExpression":"REMOVE #a","ExpressionAttributeNames":{"#a":"NAME","#b":"b"}})",
         in_names},
        {"GetItem", key + R"("ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":"NAME"}})", in_names},
        {"Scan", R"({"TableName":"tbl","FilterExpression":"#a = b","ExpressionAttributeNames":{"#a":"NAME"}})",
         in_names},
        {"DeleteItem", key + R"("ConditionExpression":"#a = b","ExpressionAttributeNames":{"#a":"NAME"}})", in_names},
        {"TransactWriteItems",
         R"({"TransactItems":[{"Update":)" + key +
             R"("UpdateExpression":"REMOVE #a","ExpressionAttributeNames":{"#a":"NAME"}}}]})",
         in_names},
        {"TransactGetItems",
         R"({"TransactItems":[{"Get":)" + key +
             R"("ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":"NAME"}}}]})",
         in_names},
        {"ExecuteStatement", R"({"Statement":"UPDATE tbl SET \"NAME\" = 1 WHERE pk = 'a'"})"},
        {"ExecuteStatement", R"({"Statement":"SELECT * FROM tbl WHERE \"NAME\" = 1"})"},
        {"ExecuteStatement", R"({"Statement":"INSERT INTO tbl VALUE {'pk': 'a', 'NAME': 1}"})"},
    };
  }
};

TEST_F(AttributeNameTest, EmptyNamesAreRefused) {
  for (const Place& place : places())
    EXPECT_EQ(refusal(place.operation, replaced(place.parameters, "NAME", "")),
              "ValidationException: " + replaced(place.wrapping, "MESSAGE", "Empty attribute name"))
        << place.operation << place.parameters;
}

TEST_F(AttributeNameTest, NamesOf65535BytesAreTheLongest) {
  const std::string longest(65'535, 'n');
  answer("UpdateItem", R"({"TableName":"tbl","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET #a = :v",)"
                       R"("ExpressionAttributeNames":{"#a":")" +
                           longest + R"("},"ExpressionAttributeValues":{":v":{"S":"x"}}})");
  EXPECT_THAT(answer("GetItem", R"({"TableName":"tbl","Key":{"pk":{"S":"a"}},"AttributesToGet":[")" + longest + "\"]}"),
              testing::HasSubstr(longest));
  for (const Place& place : places()) {
    if (place.operation == "ExecuteStatement") continue;  // no statement is long enough
    EXPECT_EQ(refusal(place.operation, replaced(place.parameters, "\"NAME\"", "\"" + longest + "n\"")),
              "ValidationException: " + replaced(place.wrapping, "MESSAGE",
                                                 "One or more parameter values were invalid: Attribute name is too "
                                                 "large, must be less than 65536 bytes"))
        << place.operation;
  }
}

}  // namespace
}  // namespace postino::wire
