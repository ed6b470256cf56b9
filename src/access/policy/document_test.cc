#include "access/policy/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::access {
namespace {

using testing::HasSubstr;

std::string fault(const std::string& text, PolicyKind kind = PolicyKind::identity) {
  const auto policy = parse_policy(text, kind, "test");
  return policy ? "" : policy.error().message;
}

// A statement with one element in place of another, or added.
std::string statement(const std::string& elements) {
  return R"({"Version":"2012-10-17","Statement":[{)" + elements + "}]}";
}
const std::string effect = R"("Effect":"Allow")";
const std::string action = R"("Action":"dynamodb:GetItem")";
const std::string resource = R"("Resource":"arn:aws:dynamodb:us-east-1:123456789012:table/orders")";

std::string with_resource(const std::string& text) {
  return statement(effect + "," + action + R"(,"Resource":")" + text + "\"");
}
std::string with_action(const std::string& text) {
  return statement(effect + "," + resource + R"(,"Action":")" + text + "\"");
}
std::string with_condition(const std::string& text) {
  return statement(effect + "," + action + "," + resource + R"(,"Condition":)" + text);
}

TEST(PolicyDocument, IsReadWithAllItsElements) {
  const auto policy = parse_policy(
      R"({"Version":"2012-10-17","Id":"orders","Statement":[
        {"Sid":"Read","Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Query"],
         "Resource":["arn:aws:dynamodb:us-east-1:123456789012:table/orders"],
         "Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["${aws:username}"],
                                                   "dynamodb:Attributes":["id","total"]},
                      "Bool":{"aws:SecureTransport":true}}},
        {"Effect":"Deny","NotAction":"dynamodb:*","NotResource":"*"}]})",
      PolicyKind::identity, "orders.json");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->name, "orders.json");
  ASSERT_EQ(policy->statements.size(), 2U);
  const Statement& first = policy->statements[0];
  EXPECT_EQ(first.name(), "statement 1 (Read)");
  EXPECT_EQ(first.effect, Effect::allow);
  EXPECT_EQ(first.actions.count(), 2U);
  EXPECT_EQ(first.conditions.size(), 3U);
  EXPECT_EQ(policy->statements[1].name(), "statement 2");
  EXPECT_TRUE(policy->statements[1].actions.none());
  EXPECT_TRUE(policy->keys().test(static_cast<std::size_t>(ContextKey::user_name)));
  EXPECT_FALSE(policy->keys().test(static_cast<std::size_t>(ContextKey::source_ip)));
}

TEST(PolicyDocument, NamesThePlaceAndTheRuleOfWhatItDoesNotKnow) {
  EXPECT_EQ(fault(statement(effect + "," + action + "," + resource + R"(,"Conditions":{})")),
            "Statement[0].Conditions: is no element that is known here");
  EXPECT_EQ(fault(R"({"Version":"2012-10-17","Statements":[]})"),
            "Statements: is no element that is known here; Statement: is missing");
  EXPECT_EQ(fault(with_condition(R"({"StringEqual":{"aws:username":"a"}})")),
            "Statement[0].Condition.StringEqual: is no operator of conditions");
  EXPECT_EQ(fault(with_condition(R"({"StringEquals":{"aws:user":"a"}})")),
            "Statement[0].Condition.StringEquals.aws:user: is no condition key that is known here");
  EXPECT_EQ(fault(with_action("dynamodb:GetItems")),
            "Statement[0].Action: \"dynamodb:GetItems\" is no action of DynamoDB");
  EXPECT_EQ(fault(statement(R"("Effect":"allow",)" + action + "," + resource)),
            "Statement[0].Effect: must be \"Allow\" or \"Deny\"");
  EXPECT_EQ(fault(R"({"Version":"2012-10-18","Statement":{"Effect":"Deny","Action":"*","Resource":"*"}})"),
            "Version: must be \"2012-10-17\" or \"2008-10-17\"");
}

TEST(PolicyDocument, TellsAllFaultsAtOnce) {
  EXPECT_EQ(fault(statement(action)),
            "Statement[0].Effect: is missing: it must be \"Allow\" or \"Deny\"; Statement[0].Resource: is missing");
}

TEST(PolicyDocument, RefusesActionsThatMeanNothing) {
  for (const char* text : {"GetItem", "dynamodb:", ":GetItem", "dynamodb:Get Item", "dynamo db:GetItem", "",
                           "dynamodb:Frob*", "dynamodb:get:item"})
    EXPECT_THAT(fault(with_action(text)), HasSubstr("is no action of DynamoDB")) << text;
  // Those of other services are none of ours; they are in the policies of many programs.
  for (const char* text : {"*", "dynamodb:*", "dynamodb:Get*", "DynamoDB:getitem", "dynamodb:?etItem", "s3:GetObject"})
    EXPECT_EQ(fault(with_action(text)), "") << text;
}

TEST(PolicyDocument, RefusesResourcesThatNothingCanHave) {
  for (const char* text :
       {"", "orders", "table/orders", "arn:aws:dynamodb", "arn:aws:dynamodb:us-east-1:123456789012",
        "arn:aws:dynamodb:us-east-1:12345:table/orders", "arn:aws:dynamodb:US EAST:123456789012:table/orders",
        "arn:aws:dynamodb:us-east-1:123456789012:orders", "arn:aws:dynamodb:us-east-1:123456789012:table/",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/",
        "arn:aws:dynamodb:us-east-1:123456789012:", "arn:aws:dynamodb:us-east-1:123456789012:table/orders/indexes/x",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/index/", "arn::dynamodb:us-east-1:123456789012:table/x",
        "arn:aws::us-east-1:123456789012:table/x", "arn:aws:dynamodb:us-east-1:123456789012:tables/*",
        "arn:aws:dynamodb:us-east-1:123456789012:table/${aws:nothing}"})
    EXPECT_THAT(fault(with_resource(text)), HasSubstr("Statement[0].Resource: ")) << text;
  for (const char* text :
       {"*", "arn:aws:dynamodb:*:*:table/orders", "arn:aws:dynamodb:us-east-1:123456789012:*",
        "arn:aws:dynamodb:us-east-1:123456789012:table/*", "arn:aws:dynamodb:us-east-1:123456789012:table/orders/*",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/index/by-date",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/stream/2026-11-18T20:00:00.000",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:us-east-1:123456789012:table/orders/export/*",
        "arn:aws:dynamodb:us-east-1:123456789012:table/${aws:username}", "arn:aws-cn:dynamodb:*:*:t*",
        "arn:aws:dynamodb:region:account:table/tickets", "arn:aws:s3:::bucket/*"})
    EXPECT_EQ(fault(with_resource(text)), "") << text;
}

TEST(PolicyDocument, HasOneActionAndOneResourceElement) {
  EXPECT_THAT(fault(statement(effect + "," + action + R"(,"NotAction":"dynamodb:Scan",)" + resource)),
              HasSubstr("must not stand beside NotAction"));
  EXPECT_THAT(fault(statement(effect + "," + action + "," + resource + R"(,"NotResource":"*")")),
              HasSubstr("must not stand beside NotResource"));
}

// Of two elements of one name, one would be passed over.
TEST(PolicyDocument, RefusesElementsThatAreThereTwice) {
  EXPECT_THAT(fault(statement(R"("Effect":"Deny",)" + effect + "," + action + "," + resource)),
              HasSubstr("Statement[0].Effect: is there twice"));
  EXPECT_THAT(fault(R"({"Version":"2012-10-17","Version":"2012-10-17","Statement":[]})"), HasSubstr("is there twice"));
  EXPECT_THAT(
      fault(with_condition(R"({"Bool":{"aws:SecureTransport":"true"},"Bool":{"aws:SecureTransport":"false"}})")),
      HasSubstr("Statement[0].Condition.Bool: is there twice"));
  EXPECT_THAT(fault(with_condition(R"({"Bool":{"aws:SecureTransport":"true","aws:SecureTransport":"false"}})")),
              HasSubstr("is there twice"));
  EXPECT_THAT(fault(R"({"Statement":[{"Sid":"A","Effect":"Deny","Action":"*","Resource":"*"},)"
                    R"({"Sid":"A","Effect":"Deny","Action":"*","Resource":"*"}]})"),
              HasSubstr("Statement[1].Sid: is that of an earlier statement"));
}

TEST(PolicyDocument, RefusesValuesOfOtherTypes) {
  EXPECT_THAT(fault(statement(effect + R"(,"Action":[],)" + resource)),
              HasSubstr("must be a text, or a list of texts"));
  EXPECT_THAT(fault(statement(effect + R"(,"Action":[1],)" + resource)), HasSubstr("must be a text, or a list"));
  EXPECT_THAT(fault(statement(effect + R"(,"Action":null,)" + resource)), HasSubstr("must be a text, or a list"));
  EXPECT_THAT(fault(with_condition("[]")), HasSubstr("Statement[0].Condition: must be an object"));
  EXPECT_THAT(fault(with_condition(R"({"Bool":{}})")), HasSubstr("must be an object of condition keys"));
  EXPECT_THAT(fault(with_condition(R"({"Bool":[]})")), HasSubstr("must be an object of condition keys"));
  EXPECT_THAT(fault(with_condition(R"({"StringEquals":{"aws:username":[]}})")), HasSubstr("must be a value"));
  EXPECT_THAT(fault(with_condition(R"({"StringEquals":{"aws:username":{"a":1}}})")), HasSubstr("must be a value"));
  EXPECT_THAT(fault(R"({"Version":1,"Statement":[]})"), HasSubstr("Version: must be a text"));
  EXPECT_THAT(fault(R"({"Statement":[]})"), HasSubstr("must be a statement, or a list of them"));
  EXPECT_THAT(fault(R"({"Statement":["x"]})"), HasSubstr("Statement[0]: must be an object"));
  EXPECT_EQ(fault("[]"), "must be an object");
  EXPECT_EQ(fault("{\"Version\": "), "the policy is no JSON: in line 1, column 13");
}

TEST(PolicyDocument, SaysWhomItIsAboutOnlyIfItIsAResources) {
  const std::string everybody = R"("Principal":"*",)";
  const std::string rest = effect + "," + action + "," + resource;
  EXPECT_THAT(fault(statement(everybody + rest)), HasSubstr("Statement[0].Principal: is no element"));
  EXPECT_EQ(fault(statement(everybody + rest), PolicyKind::resource), "");
  EXPECT_THAT(fault(statement(rest), PolicyKind::resource), HasSubstr("Statement[0].Principal: is missing"));
  const auto named = [&](const std::string& principal) {
    return fault(statement(R"("Principal":)" + principal + "," + rest), PolicyKind::resource);
  };
  EXPECT_EQ(named(R"({"AWS":["123456789012","arn:aws:iam::123456789012:user/anna","*"]})"), "");
  EXPECT_EQ(named(R"({"Service":"replication.dynamodb.amazonaws.com"})"), "");
  EXPECT_THAT(named(R"({"AWS":"anna"})"), HasSubstr("Principal.AWS: \"anna\" must be *, an account"));
  EXPECT_THAT(named(R"({"AWS":"arn:aws:iam::123456789012:user/*"})"), HasSubstr("must be *, an account"));
  EXPECT_THAT(named(R"({"Users":"anna"})"), HasSubstr("Principal.Users: is no element"));
  EXPECT_THAT(named("{}"), HasSubstr("names nobody"));
  EXPECT_THAT(named(R"("anna")"), HasSubstr("must be \"*\""));
}

// As policies stand in documents about them.
TEST(PolicyDocument, OfAnIdentityMayBeAStatementByItself) {
  const std::string alone = "{" + effect + "," + action + "," + resource + "}";
  const auto policy = parse_policy(alone, PolicyKind::identity, "alone");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->statements.size(), 1U);
  EXPECT_NE(fault(alone, PolicyKind::resource), "");
}

TEST(PolicyDocument, OfTheFirstVersionHasNoVariables) {
  const auto policy = parse_policy(R"({"Statement":{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*",)"
                                   R"("Condition":{"StringEquals":{"aws:userid":"${aws:username}"}}}})",
                                   PolicyKind::identity, "old");
  ASSERT_TRUE(policy);
  Context context;
  context.add(ContextKey::user_name, "anna");
  context.add(ContextKey::user_id, "anna");
  EXPECT_EQ(policy->statements[0].conditions[0].evaluate(context), Condition::Outcome::failed);
}

// What strangers could send, to the limits.
TEST(PolicyDocument, HasLimits) {
  std::string many = R"("Action":["dynamodb:GetItem")";
  while (many.size() < max_identity_policy_characters) many += R"(,"dynamodb:GetItem")";
  EXPECT_EQ(fault(statement(effect + "," + many + "]," + resource)),
            "the policy has more than 6,144 characters that are no blanks");
  EXPECT_EQ(fault(statement(effect + "," + action + "," + resource) + std::string(10'000, ' ')), "");
  EXPECT_EQ(fault(std::string(max_document_bytes, ' ') + "{}"), "the policy has more than 65,536 bytes");
  EXPECT_EQ(fault(std::string(max_resource_policy_bytes, ' ') + "{}", PolicyKind::resource),
            "the policy has more than 20,480 bytes");
  EXPECT_THAT(fault(std::string(3'000, '[')), HasSubstr("the policy is no JSON"));
  EXPECT_THAT(fault(R"({"Statement":)" + std::string(60, '[') + std::string(60, ']') + "}"), HasSubstr("Statement"));
  EXPECT_THAT(fault(with_resource("arn:aws:dynamodb:*:*:table/" + std::string(2'048, '*'))),
              HasSubstr("is longer than 2,048 letters"));
  EXPECT_THAT(fault("{\"\xff\":1}"), HasSubstr("the policy is no JSON"));
}

// A pattern that takes other matchers years.
TEST(PolicyDocument, ManyWildcardsCostLittle) {
  std::string pattern = "arn:aws:dynamodb:*:*:table/";
  for (int i = 0; i < 500; ++i) pattern += "a*";
  const auto policy = parse_policy(with_resource(pattern + "b"), PolicyKind::identity, "slow");
  ASSERT_TRUE(policy) << policy.error().message;
  const std::string arn = "arn:aws:dynamodb:us-east-1:123456789012:table/" + std::string(2'000, 'a');
  EXPECT_EQ(policy->statements[0].resources[0].match(arn, Context()), Pattern::Match::no);
  EXPECT_EQ(policy->statements[0].resources[0].match(arn + "b", Context()), Pattern::Match::yes);
}

}  // namespace
}  // namespace postino::access
