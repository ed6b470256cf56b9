#include "app/store/tables_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/store/service_tables.h"
#include "app/store/table_uses.h"
#include "json/document.h"

namespace postino::app {
namespace {

using testing::HasSubstr;
using testing::Not;

store::TableSetup small_table() {
  store::TableSetup setup{store::table_request("my.mails-2", {{"Id", item::Type::string}, {"At", item::Type::number}}),
                          "TTL", true};
  store::GlobalIndexDefinition index;
  index.name = "ByAt";
  index.key_schema = {{"At", store::KeyRole::hash}};
  index.projection.type = store::ProjectionType::include;
  index.projection.non_key_attributes = {"a", "b"};
  setup.request.global_indexes = {index};
  setup.request.stream =
      store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
  setup.request.tags = {{"kind", "a \"b\""}};
  return setup;
}

TEST(TablesExport, CloudFormation) {
  EXPECT_EQ(cloudformation_text({small_table()}), R"(AWSTemplateFormatVersion: "2010-09-09"
Description: "The tables of Postino"
Resources:
  MyMails2:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      TableName: "my.mails-2"
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: true
      AttributeDefinitions:
        - AttributeName: "Id"
          AttributeType: S
        - AttributeName: "At"
          AttributeType: N
      KeySchema:
        - AttributeName: "Id"
          KeyType: HASH
        - AttributeName: "At"
          KeyType: RANGE
      GlobalSecondaryIndexes:
        - IndexName: "ByAt"
          KeySchema:
            - AttributeName: "At"
              KeyType: HASH
          Projection:
            ProjectionType: INCLUDE
            NonKeyAttributes:
              - "a"
              - "b"
      StreamSpecification:
        StreamViewType: NEW_AND_OLD_IMAGES
      TimeToLiveSpecification:
        AttributeName: "TTL"
        Enabled: true
      PointInTimeRecoverySpecification:
        PointInTimeRecoveryEnabled: true
      Tags:
        - Key: "kind"
          Value: "a \"b\""
)");
  EXPECT_THAT(cloudformation_text({}), HasSubstr("Resources: {}\n"));
}

TEST(TablesExport, Terraform) {
  EXPECT_EQ(terraform_text({small_table()}), R"(resource "aws_dynamodb_table" "my_mails_2" {
  name = "my.mails-2"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "Id"
  range_key = "At"
  deletion_protection_enabled = true
  stream_enabled = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {
    name = "Id"
    type = "S"
  }

  attribute {
    name = "At"
    type = "N"
  }

  global_secondary_index {
    name = "ByAt"
    hash_key = "At"
    projection_type = "INCLUDE"
    non_key_attributes = ["a", "b"]
  }

  ttl {
    attribute_name = "TTL"
    enabled = true
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = {
    "kind" = "a \"b\""
  }

  lifecycle {
    prevent_destroy = true
  }
}
)");
}

TEST(TablesExport, NamesAreOfOneTableEach) {
  store::TableSetup first = small_table();
  store::TableSetup second = small_table();
  second.request.table_name = "my-mails.2";
  store::TableSetup third = small_table();
  third.request.table_name = "2.tables";
  const std::string yaml = cloudformation_text({first, second, third});
  EXPECT_THAT(yaml, HasSubstr("\n  MyMails2:\n"));
  EXPECT_THAT(yaml, HasSubstr("\n  MyMails2x2:\n"));
  EXPECT_THAT(yaml, HasSubstr("\n  Table2Tables:\n"));
  const std::string terraform = terraform_text({first, second, third});
  EXPECT_THAT(terraform, HasSubstr("\"my_mails_2_2\""));
  EXPECT_THAT(terraform, HasSubstr("\"table_2_tables\""));
}

TEST(TablesExport, TemplatesOfTerraformAreNoTemplates) {
  store::TableSetup setup = small_table();
  setup.request.tags = {{"kind", "${x} %{y} $"}};
  EXPECT_THAT(terraform_text({setup}), HasSubstr(R"("kind" = "$${x} %%{y} $")"));
}

TEST(TablesExport, APolicyAllowsWhatIsNeededAndNoMore) {
  const std::string text =
      iam_policy_text({small_table()}, {.region = "eu-west-1",
                                        .account = "111122223333",
                                        .followed = {"my.mails-2", "orders"},
                                        .uses = {{"my.mails-2", {"outbox", {"GetItem", "PutItem"}}}}});
  json::Document document;
  json::FieldErrors errors;
  ASSERT_TRUE(document.parse(text, errors)) << text;
  const std::string table = "arn:aws:dynamodb:eu-west-1:111122223333:table/my.mails-2";
  EXPECT_THAT(text, HasSubstr("\"" + table + "\""));
  EXPECT_THAT(text, HasSubstr("\"" + table + "/index/ByAt\""));
  EXPECT_THAT(text, HasSubstr("\"" + table + "/stream/*\""));
  EXPECT_THAT(text, HasSubstr("table/orders/stream/*\""));
  EXPECT_THAT(text, HasSubstr("\"dynamodb:PutItem\""));
  for (const char* unneeded : {"UpdateItem", "DeleteItem", "Scan", "CreateTable", "DeleteTable", "\"*\"", "s3:"})
    EXPECT_THAT(text, Not(HasSubstr(unneeded)));
  for (const json::Element statement : document.root().member("Statement")->elements()) {
    if (!statement.member("Sid")->text()->starts_with("Items")) continue;
    EXPECT_EQ(statement.member("Resource")->elements().size(), 1U);  // items of others are not read
  }
  EXPECT_THAT(iam_policy_text({small_table()}, {.region = "cn-north-1", .account = "1", .changes_tables = true}),
              testing::AllOf(HasSubstr("arn:aws-cn:dynamodb:cn-north-1:1:table/"), HasSubstr("dynamodb:CreateTable"),
                             Not(HasSubstr("GetRecords"))));
}

TEST(TablesExport, APolicyHasTheBucketOfObjects) {
  const std::string text = iam_policy_text({}, {.region = "us-gov-west-1", .account = "1", .buckets = {"tickets"}});
  EXPECT_THAT(text, HasSubstr("\"arn:aws-us-gov:s3:::tickets/*\""));
  EXPECT_THAT(text, HasSubstr("\"arn:aws-us-gov:s3:::tickets\""));
  for (const char* action : {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"})
    EXPECT_THAT(text, HasSubstr(action));
}

// The operations that the policy of all services allows on this table.
std::set<std::string> allowed_on(const std::string& table) {
  Settings settings;
  settings.store = StoreKind::dynamodb;
  const std::string text = iam_policy_text(service_tables(settings), {.region = "eu-west-1",
                                                                      .account = "111122223333",
                                                                      .followed = followed_tables(settings),
                                                                      .uses = table_uses(settings)});
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(text, errors)) << text;
  std::set<std::string> allowed;
  for (const json::Element statement : document.root().member("Statement")->elements())
    for (const json::Element resource : statement.member("Resource")->elements())
      if (resource.text()->ends_with(":table/" + table))
        for (const json::Element action : statement.member("Action")->elements())
          allowed.insert(std::string(action.text().value().substr(std::string("dynamodb:").size())));
  for (const char* described : {"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"})
    EXPECT_EQ(allowed.erase(described), 1U) << table;
  return allowed;
}

TEST(TablesExport, EachTableAllowsWhatItsServiceDoesWithIt) {
  using testing::UnorderedElementsAre;
  // What was decided stays: nothing is changed, and only an objection that is taken back is deleted.
  EXPECT_THAT(allowed_on("EmailTrackingTable-audit"),
              UnorderedElementsAre("GetItem", "Query", "PutItem", "DeleteItem"));
  // Expired keys are removed by the store.
  EXPECT_THAT(allowed_on("email-outbox-idempotency"), UnorderedElementsAre("GetItem", "PutItem", "UpdateItem"));
  // Parts of answers are written and read.
  EXPECT_THAT(allowed_on(Settings().idempotency.table + "-answers"), UnorderedElementsAre("GetItem", "PutItem"));
  EXPECT_THAT(allowed_on("email-outbox-mailbox"), UnorderedElementsAre("GetItem", "Query", "PutItem", "DeleteItem"));
  EXPECT_THAT(allowed_on("email-outbox-spool"), Not(testing::Contains("Scan")));
  // Metrics count e-mails again only where they count e-mails.
  EXPECT_THAT(allowed_on("email-outbox"), Not(testing::Contains("Scan")));
  EXPECT_THAT(allowed_on(Settings().tickets.table), testing::Contains("Scan"));
}

TEST(TablesExport, EveryTableHasAUse) {
  for (const bool is_off : {false, true}) {
    Settings settings;
    settings.store = StoreKind::dynamodb;
    settings.tickets.off = settings.metrics.off = settings.reminders.off = is_off;
    const auto uses = table_uses(settings);
    std::set<std::string> used;
    for (const auto& [table, use] : uses) {
      EXPECT_FALSE(use.service.empty()) << table;
      used.insert(table);
    }
    std::set<std::string> made;
    for (const store::TableSetup& setup : service_tables(settings)) made.insert(setup.request.table_name);
    EXPECT_EQ(used, made);
  }
}

TEST(TablesExport, NamesEveryTableAndIndexOfTheServices) {
  const std::vector<store::TableSetup> tables = service_tables({});
  const std::string yaml = cloudformation_text(tables);
  const std::string terraform = terraform_text(tables);
  const std::string policy =
      iam_policy_text(tables, {.region = "ap-northeast-1",
                               .account = "111122223333",
                               .followed = followed_tables({}),
                               .uses = table_uses({}),
                               .buckets = {"a-bucket-with-a-name-of-sixty-three-characters-as-is-most-000000"}});
  EXPECT_LE(characters_of_policy(policy), largest_policy);
  for (const store::TableSetup& setup : tables) {
    const std::string& name = setup.request.table_name;
    EXPECT_THAT(yaml, HasSubstr("TableName: \"" + name + "\"\n"));
    EXPECT_THAT(terraform, HasSubstr("name = \"" + name + "\"\n"));
    EXPECT_THAT(policy, HasSubstr("table/" + name + "\""));
    if (!setup.request.global_indexes) continue;
    for (const store::GlobalIndexDefinition& index : *setup.request.global_indexes) {
      EXPECT_THAT(yaml, HasSubstr("IndexName: \"" + index.name + "\"\n"));
      EXPECT_THAT(terraform, HasSubstr("name = \"" + index.name + "\"\n"));
      EXPECT_THAT(policy, HasSubstr("table/" + name + "/index/" + index.name + "\""));
    }
  }
}

}  // namespace
}  // namespace postino::app
