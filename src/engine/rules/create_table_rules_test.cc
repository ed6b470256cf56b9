#include "engine/rules/create_table_rules.h"

#include "engine/catalog/core_testing.h"

namespace postino::engine {
namespace {

using item::Type;
using store::BillingMode;
using store::CreateTableRequest;
using store::KeyRole;
using store::ProjectionType;

std::string refusal(const CreateTableRequest& request) {
  const store::Answer<void> answer = check_create_table(request);
  if (answer) return "";
  EXPECT_EQ(answer.error().type, store::ErrorType::validation);
  return answer.error().message;
}

// Keys pk and sk, both strings, and whatever else is defined.
CreateTableRequest range_table(std::vector<std::string> other_definitions = {}) {
  CreateTableRequest request = simple_table("orders");
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  request.attribute_definitions = {{"pk", Type::string}, {"sk", Type::string}};
  for (std::string& name : other_definitions) request.attribute_definitions.push_back({std::move(name), Type::string});
  return request;
}

store::LocalIndexDefinition local_index(std::string name, std::string range) {
  return {std::move(name), {{"pk", KeyRole::hash}, {std::move(range), KeyRole::range}}, {ProjectionType::all, {}}};
}

CreateTableRequest with_global_index(store::GlobalIndexDefinition index, std::vector<std::string> definitions) {
  CreateTableRequest request = range_table(std::move(definitions));
  request.global_indexes = {std::move(index)};
  return request;
}

CreateTableRequest with_keys(store::KeySchema schema, std::vector<std::string> definitions) {
  store::GlobalIndexDefinition index = simple_index("by-it", "a");
  index.key_schema = std::move(schema);
  return with_global_index(std::move(index), std::move(definitions));
}

TEST(CreateTableRules, SimpleTablesPass) {
  EXPECT_EQ(refusal(simple_table("abc")), "");
  EXPECT_EQ(refusal(range_table()), "");
  CreateTableRequest provisioned = simple_table("abc");
  provisioned.billing_mode.reset();
  provisioned.throughput = {1, 1};
  EXPECT_EQ(refusal(provisioned), "");
}

TEST(CreateTableRules, ShapeComesFirstAndAllAtOnce) {
  CreateTableRequest request;
  request.table_name = "ab";
  request.throughput = {0, -1};
  EXPECT_EQ(refusal(request),
            "4 validation errors detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have "
            "length greater than or equal to 3; Value '-1' at 'provisionedThroughput.writeCapacityUnits' failed to "
            "satisfy constraint: Member must have value greater than or equal to 1; Value '0' at "
            "'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater "
            "than or equal to 1; Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length "
            "greater than or equal to 1");
}

TEST(CreateTableRules, AtMostTwoTableKeys) {
  CreateTableRequest request = range_table();
  request.key_schema.push_back({"x", KeyRole::range});
  EXPECT_EQ(refusal(request),
            "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), "
            "KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=x, keyType=RANGE)]' at "
            "'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2");
}

TEST(CreateTableRules, KeyNamesHaveUpTo255Bytes) {
  CreateTableRequest request = simple_table("abc");
  const std::string longest(255, 'k');
  request.key_schema = {{longest, KeyRole::hash}};
  request.attribute_definitions = {{longest, Type::string}};
  EXPECT_EQ(refusal(request), "");
  const std::string too_long(256, 'k');
  request.key_schema = {{too_long, KeyRole::hash}};
  EXPECT_EQ(refusal(request), "1 validation error detected: Value '" + too_long +
                                  "' at 'keySchema.1.member.attributeName' failed to satisfy constraint: Member must "
                                  "have length less than or equal to 255");
}

TEST(CreateTableRules, ThroughputFollowsTheBillingMode) {
  CreateTableRequest request = simple_table("abc");
  request.throughput = {1, 1};
  EXPECT_EQ(refusal(request),
            invalid_values +
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
                "PAY_PER_REQUEST");
  request.billing_mode.reset();
  request.throughput.reset();
  EXPECT_EQ(refusal(request),
            invalid_values +
                "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
  request.throughput = {1'000'000'000'001, 1'000'000'000'001};
  EXPECT_EQ(refusal(request), "Given value 1000000000001 for ReadCapacityUnits is out of bounds");
  request.throughput = {1'000'000'000'000, 1'000'000'000'001};
  EXPECT_EQ(refusal(request), "Given value 1000000000001 for WriteCapacityUnits is out of bounds");
}

TEST(CreateTableRules, OnDemandCeilings) {
  CreateTableRequest request = simple_table("abc");
  request.on_demand = {100, {}};
  EXPECT_EQ(refusal(request), "");
  request.on_demand = {0, {}};
  EXPECT_EQ(
      refusal(request),
      invalid_values + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range");
  request.on_demand = {{}, -1};
  EXPECT_EQ(
      refusal(request),
      invalid_values + "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range");
  request.billing_mode = BillingMode::provisioned;
  request.throughput = {1, 1};
  request.on_demand = {5, 5};
  EXPECT_EQ(refusal(request),
            invalid_values +
                "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is "
                "PROVISIONED.");
}

TEST(CreateTableRules, WarmThroughputHasAFloor) {
  CreateTableRequest request = simple_table("abc");
  request.warm = {12'000, 4'000};
  EXPECT_EQ(refusal(request), "");
  request.warm = {1, 1};
  EXPECT_TRUE(refusal(request).starts_with(invalid_values +
                                           "Requested ReadUnitsPerSecond for WarmThroughput for table is lower "
                                           "than initial throughput for OnDemand. See: https://"));
  request.billing_mode = BillingMode::provisioned;
  request.throughput = {5, 5};
  request.warm = {5, 4};
  EXPECT_EQ(refusal(request),
            invalid_values +
                "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than WriteCapacityUnits of "
                "ProvisionedThroughput");
}

TEST(CreateTableRules, KeysNeedDefinitions) {
  CreateTableRequest request = simple_table("abc");
  request.attribute_definitions.clear();
  EXPECT_EQ(refusal(request), "Invalid KeySchema: Some index key attribute have no definition");
  request.attribute_definitions = {{"b", Type::string}};
  EXPECT_EQ(refusal(request), invalid_values +
                                  "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], "
                                  "AttributeDefinitions: [b]");
}

TEST(CreateTableRules, TableKeysAreOneHashThenOneRangeOfAnotherName) {
  CreateTableRequest request = range_table();
  request.key_schema = {{"pk", KeyRole::hash}, {"pk", KeyRole::range}};
  EXPECT_EQ(refusal(request), "Both the Hash Key and the Range Key element in the KeySchema have the same name");
  request.key_schema = {{"sk", KeyRole::range}, {"pk", KeyRole::hash}};
  EXPECT_EQ(refusal(request), "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::hash}};
  EXPECT_EQ(refusal(request), "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
}

TEST(CreateTableRules, DefinitionsAreExactlyTheKeys) {
  EXPECT_EQ(refusal(range_table({"extra"})),
            invalid_values +
                "Number of attributes in KeySchema does not exactly match number of attributes defined in "
                "AttributeDefinitions");
  CreateTableRequest indexed = with_global_index(simple_index("by-a", "a"), {"a", "extra"});
  indexed.global_indexes->front().projection.type.reset();
  EXPECT_EQ(refusal(indexed),
            invalid_values +
                "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, a, extra], keys used: "
                "[pk, sk, a]");
  CreateTableRequest repeated = simple_table("abc");
  repeated.attribute_definitions.push_back({"pk", Type::number});
  EXPECT_EQ(refusal(repeated), "Attribute Name is duplicated: pk");
}

TEST(CreateTableRules, IndexListsAreNotEmpty) {
  CreateTableRequest request = range_table();
  request.local_indexes.emplace();
  EXPECT_EQ(refusal(request), invalid_values + "List of LocalSecondaryIndexes is empty");
  request.local_indexes.reset();
  request.global_indexes.emplace();
  EXPECT_EQ(refusal(request), invalid_values + "List of GlobalSecondaryIndexes is empty");
}

TEST(CreateTableRules, LocalIndexesShareTheHashKeyAndHaveARange) {
  CreateTableRequest request = range_table({"a"});
  request.local_indexes = {local_index("by-a", "a")};
  EXPECT_EQ(refusal(request), "");

  CreateTableRequest no_range = simple_table("abc");
  no_range.local_indexes = {local_index("by-a", "a")};
  EXPECT_EQ(refusal(no_range),
            invalid_values +
                "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");

  CreateTableRequest hash_only = range_table();
  hash_only.local_indexes = {{"by-a", {{"pk", KeyRole::hash}}, {ProjectionType::all, {}}}};
  EXPECT_EQ(refusal(hash_only), invalid_values + "Index KeySchema does not have a range key for index: by-a");

  CreateTableRequest other_hash = range_table();
  other_hash.local_indexes = {{"by-a", {{"sk", KeyRole::hash}, {"pk", KeyRole::range}}, {ProjectionType::all, {}}}};
  EXPECT_EQ(refusal(other_hash),
            invalid_values +
                "Index KeySchema does not have the same leading hash key as table KeySchema for index: by-a. index "
                "hash key: sk, table hash key: pk");

  CreateTableRequest undefined = range_table();
  undefined.local_indexes = {local_index("by-c", "c")};
  EXPECT_EQ(refusal(undefined), invalid_values +
                                    "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk, c], "
                                    "AttributeDefinitions: [pk, sk]");
}

TEST(CreateTableRules, IndexNamesAreNamesAndUnique) {
  CreateTableRequest request = with_global_index(simple_index("h;", "a"), {"a"});
  EXPECT_EQ(refusal(request),
            "2 validation errors detected: Value 'h;' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'h;' at "
            "'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater "
            "than or equal to 3");
  request.global_indexes = {simple_index("twice", "a"), simple_index("twice", "a")};
  EXPECT_EQ(refusal(request), invalid_values + "Duplicate index name: twice");
  request.global_indexes = {simple_index("twice", "a")};
  request.local_indexes = {local_index("twice", "a")};
  EXPECT_EQ(refusal(request), invalid_values + "Duplicate index name: twice");
  request.global_indexes.reset();
  request.local_indexes = {local_index("twice", "a"), local_index("twice", "a")};
  EXPECT_EQ(refusal(request), invalid_values + "Duplicate index name: twice");
}

TEST(CreateTableRules, IndexCounts) {
  CreateTableRequest request = range_table();
  request.local_indexes.emplace();
  for (int i = 0; i < 5; ++i) request.local_indexes->push_back(local_index("local" + std::to_string(i), "sk"));
  request.global_indexes.emplace();
  for (int i = 0; i < 20; ++i) request.global_indexes->push_back(simple_index("global" + std::to_string(i), "sk"));
  EXPECT_EQ(refusal(request), "");
  request.global_indexes->push_back(simple_index("global20", "sk"));
  EXPECT_EQ(refusal(request), invalid_values + "GlobalSecondaryIndex count exceeds the per-table limit of 20");
  request.local_indexes->push_back(local_index("local5", "sk"));
  EXPECT_EQ(refusal(request), invalid_values + "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
}

TEST(CreateTableRules, Projections) {
  CreateTableRequest request = with_global_index(simple_index("by-a", "a"), {"a"});
  store::IndexProjection& projection = request.global_indexes->front().projection;
  projection = {};
  EXPECT_EQ(refusal(request), invalid_values + "Unknown ProjectionType: null");
  projection = {ProjectionType::all, std::vector<std::string>{"x"}};
  EXPECT_EQ(refusal(request), invalid_values + "ProjectionType is ALL, but NonKeyAttributes is specified");
  projection.type = ProjectionType::keys_only;
  EXPECT_EQ(refusal(request), invalid_values + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified");
  projection = {ProjectionType::include, {}};
  EXPECT_EQ(refusal(request), invalid_values + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  projection = {ProjectionType::include, std::vector<std::string>{"x", "y", "x"}};
  EXPECT_EQ(refusal(request), invalid_values + "Duplicate element in NonKeyAttributes: x");
  projection = {ProjectionType::include, std::vector<std::string>{}};
  EXPECT_EQ(refusal(request),
            "1 validation error detected: Value '[]' at "
            "'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must "
            "have length greater than or equal to 1");
  projection.non_key_attributes->resize(21, "x");
  EXPECT_TRUE(refusal(request).ends_with("Member must have length less than or equal to 20"));
}

TEST(CreateTableRules, AHundredProjectedAttributesPerTable) {
  CreateTableRequest request = range_table();
  std::vector<std::string> twenty;
  for (int i = 0; i < 20; ++i) twenty.push_back("x" + std::to_string(i));
  request.global_indexes.emplace();
  for (int i = 0; i < 5; ++i) {
    request.global_indexes->push_back(simple_index("global" + std::to_string(i), "sk"));
    request.global_indexes->back().projection = {ProjectionType::include, twenty};
  }
  EXPECT_EQ(refusal(request), "");
  request.global_indexes->push_back(simple_index("global5", "sk"));
  request.global_indexes->back().projection = {ProjectionType::include, std::vector<std::string>{"one"}};
  EXPECT_TRUE(refusal(request).starts_with(invalid_values));
}

TEST(CreateTableRules, GlobalIndexesTakeFourHashAndFourRangeKeys) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  store::KeySchema schema;
  for (std::size_t i = 0; i < names.size(); ++i) schema.push_back({names[i], i < 4 ? KeyRole::hash : KeyRole::range});
  EXPECT_EQ(refusal(with_keys(schema, names)), "");

  store::KeySchema five_hash = schema;
  five_hash[4].role = KeyRole::hash;
  EXPECT_EQ(refusal(with_keys(five_hash, names)),
            invalid_values + "The KeySchema exceeds the maximum allowed number of HASH key attributes");
  store::KeySchema five_range = schema;
  five_range[3].role = KeyRole::range;
  EXPECT_EQ(refusal(with_keys(five_range, names)),
            invalid_values + "The KeySchema exceeds the maximum allowed number of RANGE key attributes");

  const store::KeySchema mixed = {{"a", KeyRole::hash}, {"b", KeyRole::range}, {"c", KeyRole::hash}};
  EXPECT_EQ(refusal(with_keys(mixed, {"a", "b", "c"})),
            invalid_values + "All HASH key attributes must precede RANGE key attributes in the KeySchema");
  const store::KeySchema repeated = {{"a", KeyRole::hash}, {"b", KeyRole::hash}, {"a", KeyRole::range}};
  EXPECT_EQ(refusal(with_keys(repeated, {"a", "b"})),
            "The KeySchema contains multiple key attributes with the same name");
  const store::KeySchema same = {{"a", KeyRole::hash}, {"a", KeyRole::range}};
  EXPECT_EQ(refusal(with_keys(same, {"a"})),
            "Both the Hash Key and the Range Key element in the KeySchema have the same name");
  const store::KeySchema range_only = {{"a", KeyRole::range}};
  EXPECT_EQ(refusal(with_keys(range_only, {"a"})),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
}

TEST(CreateTableRules, GlobalIndexThroughputFollowsTheBillingMode) {
  CreateTableRequest request = with_global_index(simple_index("by-a", "a"), {"a"});
  request.global_indexes->front().throughput = {1, 1};
  EXPECT_EQ(refusal(request), invalid_values +
                                  "ProvisionedThroughput should not be specified for index: by-a when BillingMode is "
                                  "PAY_PER_REQUEST");
  request.billing_mode = BillingMode::provisioned;
  request.throughput = {1, 1};
  EXPECT_EQ(refusal(request), "");
  request.global_indexes->front().throughput.reset();
  EXPECT_EQ(refusal(request), invalid_values + "ProvisionedThroughput is not specified for index: by-a");
}

TEST(CreateTableRules, Streams) {
  CreateTableRequest request = simple_table("abc");
  request.stream = {true, {}};
  EXPECT_EQ(refusal(request),
            invalid_values + "Table is being created with a stream enabled, UpdateViewType is required");
  request.stream = {false, store::StreamViewType::keys_only};
  EXPECT_EQ(refusal(request),
            invalid_values + "Table is being created with a stream disabled, UpdateViewType should not be specified");
  request.stream = {false, {}};
  EXPECT_EQ(refusal(request), "");
}

TEST(CreateTableRules, Encryption) {
  CreateTableRequest request = simple_table("abc");
  request.encryption = {false, "KMS", {}};
  EXPECT_EQ(refusal(request), invalid_values + "SSEType can not be specified if Enabled is false");
  request.encryption = {false, {}, "key"};
  EXPECT_EQ(refusal(request), invalid_values + "KMSMasterKeyId can not be specified if Enabled is false");
  request.encryption = {true, {}, "key"};
  EXPECT_EQ(refusal(request), invalid_values + "SSEType KMS is required if KMSMasterKeyId is specified");
  request.encryption = {true, "AES256", {}};
  EXPECT_EQ(refusal(request), invalid_values + "SSEType AES256 is not supported");
}

TEST(CreateTableRules, TagsAreChecked) {
  CreateTableRequest request = simple_table("abc");
  request.tags = {{"aws:foo", "x"}};
  EXPECT_EQ(refusal(request), "Tag Key cannot be prefixed with aws:, Key: aws:foo");
  request.tags.clear();
  for (int i = 0; i < 51; ++i) request.tags.push_back({"key" + std::to_string(i), ""});
  EXPECT_EQ(refusal(request), "Number of Tags exceed the current limit for the provided ResourceArn");
}

}  // namespace
}  // namespace postino::engine
