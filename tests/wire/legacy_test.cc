// Parameters from before expressions do what expressions do, with their own texts.
#include "endpoint_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;

class LegacyTest : public EndpointTest {
 protected:
  LegacyTest() {
    create_table("old", true);
    for (const char* item : {R"("sk":{"S":"1"},"n":{"N":"1"},"t":{"S":"red apple"})",
                             R"("sk":{"S":"2"},"n":{"N":"2"},"t":{"S":"green pear"},"tags":{"SS":["x","y"]})",
                             R"("sk":{"S":"3"},"n":{"N":"3"})"})
      answer("PutItem", std::string(R"({"TableName":"old","Item":{"pk":{"S":"a"},)") + item + "}}");
  }

  // The sort keys that a filter lets through.
  std::string scanned(const std::string& filter, const std::string& more = "") {
    return keys(
        answer("Scan", R"({"TableName":"old","AttributesToGet":["sk"],"ScanFilter":{)" + filter + "}" + more + "}"));
  }
  std::string queried(const std::string& conditions, const std::string& more = "") {
    return keys(answer("Query", R"({"TableName":"old","AttributesToGet":["sk"],"KeyConditions":{)"
                                R"("pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]})" +
                                    conditions + "}" + more + "}"));
  }
  static std::string keys(const std::string& body) {
    std::string found;
    for (const char* key : {"1", "2", "3"})
      if (body.find(std::string(R"({"sk":{"S":")") + key + "\"}}") != std::string::npos) found += key;
    return found;
  }

  std::string put(const std::string& parameters) {
    return R"({"TableName":"old","Item":{"pk":{"S":"b"},"sk":{"S":"1"}},)" + parameters + "}";
  }
  std::string update(const std::string& parameters) {
    return R"({"TableName":"old","Key":{"pk":{"S":"a"},"sk":{"S":"2"}},)" + parameters + "}";
  }
};

TEST_F(LegacyTest, FiltersSelect) {
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"2.0"}]})"), "2");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"NE","AttributeValueList":[{"N":"2"}]})"), "13");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"GE","AttributeValueList":[{"N":"2"}]})"), "23");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"LT","AttributeValueList":[{"N":"2"}]})"), "1");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"2"},{"N":"9"}]})"), "23");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"},{"N":"3"}]})"), "13");
  EXPECT_EQ(scanned(R"("t":{"ComparisonOperator":"NULL"})"), "3");
  EXPECT_EQ(scanned(R"("t":{"ComparisonOperator":"NOT_NULL"})"), "12");
  EXPECT_EQ(scanned(R"("t":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"S":"pear"}]})"), "2");
  EXPECT_EQ(scanned(R"("tags":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"S":"y"}]})"), "2");
  EXPECT_EQ(scanned(R"("t":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"S":"red"}]})"), "1");
  EXPECT_EQ(scanned(R"("n":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]},)"
                    R"("t":{"ComparisonOperator":"NULL"})",
                    R"(,"ConditionalOperator":"OR")"),
            "13");
}

TEST_F(LegacyTest, KeyConditionsSelectAndMayStandBesideAFilterExpression) {
  EXPECT_EQ(queried(""), "123");
  EXPECT_EQ(queried(R"(,"sk":{"ComparisonOperator":"GT","AttributeValueList":[{"S":"1"}]})"), "23");
  EXPECT_EQ(queried("", R"(,"QueryFilter":{"n":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"3"}]}})"), "3");
  EXPECT_THAT(
      answer("Query", R"({"TableName":"old","KeyConditions":{"pk":{"ComparisonOperator":"EQ",)"
                      R"("AttributeValueList":[{"S":"a"}]}},"FilterExpression":"#_0 = :_1",)"
                      R"("ExpressionAttributeNames":{"#_0":"n"},"ExpressionAttributeValues":{":_1":{"N":"2"}}})"),
      HasSubstr(R"("Count":1,)"));
}

TEST_F(LegacyTest, ExpectationsGuardWrites) {
  answer("PutItem", put(R"("Expected":{"pk":{"Exists":false}})"));
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"pk":{"Exists":false}})")),
            "ConditionalCheckFailedException: The conditional request failed");
  answer("PutItem", put(R"("Expected":{"pk":{"Value":{"S":"b"}}})"));
  answer("DeleteItem", R"({"TableName":"old","Key":{"pk":{"S":"b"},"sk":{"S":"1"}},)"
                       R"("Expected":{"sk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"1"}]}}})");
  EXPECT_EQ(answer("GetItem", R"({"TableName":"old","Key":{"pk":{"S":"b"},"sk":{"S":"1"}}})"), "{}");
}

TEST_F(LegacyTest, NothingIsContainedInAMissingAttribute) {
  const std::string condition = R"({"ComparisonOperator":"NOT_CONTAINS","AttributeValueList":[{"S":"z"}]})";
  EXPECT_EQ(scanned("\"t\":" + condition), "12");
  EXPECT_EQ(refusal("UpdateItem",
                    update(R"("AttributeUpdates":{"u":{"Value":{"S":"x"}}},"Expected":{"missing":)" + condition + "}")),
            "ConditionalCheckFailedException: The conditional request failed");
  answer("UpdateItem", update(R"("AttributeUpdates":{"u":{"Value":{"S":"x"}}},"ConditionalOperator":"OR",)"
                              R"("Expected":{"missing":)" +
                              condition + R"(,"tags":)" + condition + "}"));
}

// Parameters that are no expressions are not bound to the limits of expressions, and tell of none.
TEST_F(LegacyTest, OperandsAndUpdatesMayBeMany) {
  std::string operands = R"({"N":"3"})";
  std::string updates = R"("n":{"Value":{"N":"3"}})";
  for (int i = 100; i < 1'000; ++i) {
    operands += R"(,{"N":")" + std::to_string(i) + "\"}";
    updates += ",\"a" + std::to_string(i) + R"(":{"Value":{"BOOL":true}})";
  }
  const std::string in = R"("n":{"ComparisonOperator":"IN","AttributeValueList":[)" + operands + "]}";
  EXPECT_EQ(scanned(in), "3");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{"u":{"Value":{"S":"x"}}},"Expected":{)" + in + "}")),
            "ConditionalCheckFailedException: The conditional request failed");
  answer("UpdateItem", update("\"AttributeUpdates\":{" + updates + "}"));
  answer("UpdateItem", update(R"("AttributeUpdates":{"u":{"Value":{"S":"x"}}},"Expected":{)" + in + "}"));
}

TEST_F(LegacyTest, AttributeUpdatesPutAddAndDelete) {
  EXPECT_EQ(answer("UpdateItem", update(R"("AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"5"}},)"
                                        R"("t":{"Action":"DELETE"},"u":{"Value":{"S":"new"}},)"
                                        R"("tags":{"Action":"DELETE","Value":{"SS":["x"]}},)"
                                        R"("l":{"Action":"ADD","Value":{"L":[{"S":"first"}]}}},)"
                                        R"("ReturnValues":"ALL_NEW")")),
            R"({"Attributes":{"l":{"L":[{"S":"first"}]},"n":{"N":"7"},"pk":{"S":"a"},"sk":{"S":"2"},)"
            R"("tags":{"SS":["y"]},"u":{"S":"new"}}})");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{"u":{"Action":"ADD","Value":{"N":"5"}}})")),
            "ValidationException: Type mismatch for attribute to update");
}

TEST_F(LegacyTest, FaultsHaveTheirOwnTexts) {
  const std::string invalid = "ValidationException: One or more parameter values were invalid: ";
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Value":{"S":"x"},"AttributeValueList":[]}})")),
            invalid + "Value and AttributeValueList cannot be used together for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Exists":true,"ComparisonOperator":"EQ"}})")),
            invalid + "Exists and ComparisonOperator cannot be used together for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"ComparisonOperator":"EQ"}})")),
            invalid + "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"AttributeValueList":[{"S":"x"}]}})")),
            invalid + "AttributeValueList can only be used with a ComparisonOperator for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{}})")),
            invalid + "Value must be provided when Exists is null for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Exists":true}})")),
            invalid + "Value must be provided when Exists is true for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Exists":false,"Value":{"S":"x"}}})")),
            invalid + "Value cannot be used when Exists is false for Attribute: a");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[]}})")),
            invalid + "Invalid number of argument(s) for the EQ ComparisonOperator");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"ComparisonOperator":"IN",)"
                                   R"("AttributeValueList":[{"S":"x"},{"N":"1"}]}})")),
            invalid + "AttributeValues inside AttributeValueList must be of same type");
  EXPECT_EQ(
      refusal("PutItem", put(R"("Expected":{"a":{"ComparisonOperator":"LT","AttributeValueList":[{"SS":["x"]}]}})")),
      invalid + "ComparisonOperator LT is not valid for SS AttributeValue type");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"ComparisonOperator":"BETWEEN",)"
                                   R"("AttributeValueList":[{"N":"2"},{"N":"1"}]}})")),
            "ValidationException: The BETWEEN condition was provided a range where the lower bound is greater than "
            "the upper bound");
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Exists":false}},"ConditionalOperator":"OR")")),
            "ValidationException: ConditionalOperator can only be used when Filter or Expected has two or more "
            "elements");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{"a":{"Action":"PUT"}})")),
            invalid + "Only DELETE action is allowed when no attribute value is specified");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{"a":{"Action":"DELETE","Value":{"S":"x"}}})")),
            invalid + "DELETE action with value is not supported for the type S");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{"a":{"Action":"ADD","Value":{"S":"x"}}})")),
            invalid + "ADD action is not supported for the type S");
  EXPECT_EQ(refusal("GetItem", R"({"TableName":"old","Key":{},"AttributesToGet":["a","a"]})"),
            invalid + "Duplicate value in attribute name: a");
  EXPECT_EQ(refusal("Query", R"({"TableName":"old","KeyConditions":{"pk":{"ComparisonOperator":"NE",)"
                             R"("AttributeValueList":[{"S":"a"}]}}})"),
            "ValidationException: Attempted conditional constraint is not an indexable operation");
  EXPECT_EQ(refusal("Query", R"({"TableName":"old","KeyConditions":{}})"),
            "ValidationException: Conditions can be of length 1 or 2 only");
  EXPECT_EQ(
      refusal("Query", R"({"TableName":"old","KeyConditions":{"pk":{"ComparisonOperator":"EQ",)"
                       R"("AttributeValueList":[{"S":"a"}]}},"QueryFilter":{"sk":{"ComparisonOperator":"NULL"}}})"),
      "ValidationException: QueryFilter can only contain non-primary key attributes: Primary key attribute: sk");
}

TEST_F(LegacyTest, OldAndNewMustNotBeMixed) {
  EXPECT_EQ(refusal("PutItem", put(R"("Expected":{"a":{"Exists":false}},"ConditionExpression":"a = b")")),
            "ValidationException: Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}");
  EXPECT_EQ(refusal("UpdateItem", update(R"("AttributeUpdates":{},"Expected":{},"UpdateExpression":"REMOVE a",)"
                                         R"("ConditionExpression":"a = b")")),
            "ValidationException: Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributeUpdates, Expected} Expression parameters: {UpdateExpression, "
            "ConditionExpression}");
  EXPECT_EQ(refusal("GetItem", R"({"TableName":"old","Key":{},"AttributesToGet":["a"],)"
                               R"("ExpressionAttributeNames":{"#a":"a"}})"),
            "ValidationException: ExpressionAttributeNames can only be specified when using expressions");
  EXPECT_EQ(
      refusal("PutItem", put(R"("Expected":{"a":{"Exists":false}},"ExpressionAttributeValues":{":a":{"S":"x"}})")),
      "ValidationException: ExpressionAttributeValues can only be specified when using expressions: "
      "ConditionExpression is null");
}

}  // namespace
}  // namespace postino::wire
