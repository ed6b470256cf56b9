#include "app/settings/policy_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::app {
namespace {

using testing::HasSubstr;

const std::string own_orders =
    R"({"Version":"2012-10-17","Statement":[{"Sid":"Own","Effect":"Allow","Action":"dynamodb:Query","Resource":"*",)"
    R"("Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"${aws:PrincipalTag/customer}"}}},)"
    R"({"Effect":"Deny","Action":"dynamodb:Scan","Resource":"arn:aws:dynamodb:*:*:table/orders"}]})";

PolicyQuestion question(const std::string& action, std::vector<std::string> context = {}) {
  PolicyQuestion question;
  question.policies = {own_orders};
  question.action = action;
  question.resource = "orders";
  question.context = std::move(context);
  return question;
}

std::string fault(const PolicyQuestion& question) {
  const auto answered = answer(question);
  return answered ? "" : answered.error().message;
}

TEST(PolicyQuestion, IsAnsweredWithAReasonForEachStatement) {
  const auto allowed = answer(question("dynamodb:Query", {"dynamodb:LeadingKeys=17", "aws:PrincipalTag/customer=17"}));
  ASSERT_TRUE(allowed);
  EXPECT_TRUE(allowed->allowed);
  EXPECT_EQ(allowed->text,
            "allowed: dynamodb:Query on arn:aws:dynamodb:us-east-1:123456789012:table/orders\n"
            "policy, statement 1 (Own): allows it\n"
            "policy, statement 2: is not about this action\n");
  const auto foreign = answer(question("Query", {"dynamodb:LeadingKeys=18", "aws:PrincipalTag/customer=17"}));
  ASSERT_TRUE(foreign);
  EXPECT_FALSE(foreign->allowed);
  EXPECT_EQ(foreign->text,
            "not allowed: dynamodb:Query on arn:aws:dynamodb:us-east-1:123456789012:table/orders\n"
            "policy, statement 1 (Own): has a condition that is not met: ForAllValues:StringEquals "
            "dynamodb:LeadingKeys wants \"${aws:PrincipalTag/customer}\" and the request has \"18\"\n"
            "policy, statement 2: is not about this action\n"
            "User: arn:aws:iam::123456789012:user/user is not authorized to perform: dynamodb:Query on resource: "
            "arn:aws:dynamodb:us-east-1:123456789012:table/orders because no identity-based policy allows the "
            "dynamodb:Query action\n");
}

TEST(PolicyQuestion, TellsWhichKeysOfConditionsWereLeftOut) {
  const auto allowed = answer(question("Query", {"aws:PrincipalTag/customer=17"}));
  ASSERT_TRUE(allowed);
  EXPECT_TRUE(allowed->allowed) << "all of no values are right";
  EXPECT_THAT(allowed->text, HasSubstr("taken as absent, because no --context gives it: dynamodb:LeadingKeys;"));
  EXPECT_THAT(allowed->json, HasSubstr(R"("absent":["dynamodb:LeadingKeys"])"));
  EXPECT_THAT(answer(question("Scan"))->text, testing::Not(HasSubstr("absent"))) << "no condition was asked";
}

TEST(PolicyQuestion, IsAnsweredInJson) {
  const auto denied = answer(question("Scan"));
  ASSERT_TRUE(denied);
  EXPECT_EQ(
      denied->json,
      R"({"allowed":false,"decision":"denied","action":"dynamodb:Scan",)"
      R"("resource":"arn:aws:dynamodb:us-east-1:123456789012:table/orders","statements":[)"
      R"({"policy":"policy","statement":1,"sid":"Own","effect":"Allow","applies":false,)"
      R"("reason":"is not about this action"},{"policy":"policy","statement":2,"effect":"Deny","applies":true,)"
      R"("reason":"denies it"}],"absent":[],"message":"User: arn:aws:iam::123456789012:user/user is not authorized to )"
      R"(perform: dynamodb:Scan on resource: arn:aws:dynamodb:us-east-1:123456789012:table/orders with an )"
      R"(explicit deny in an identity-based policy"})"
      "\n");
}

TEST(PolicyQuestion, ResourcesPoliciesHaveTheirSay) {
  PolicyQuestion asked = question("Query");
  asked.policies.clear();
  EXPECT_TRUE(answer(asked)->allowed);
  asked.resource_policies = {R"({"Statement":{"Effect":"Deny","Principal":"*","Action":"*","Resource":"*"}})"};
  EXPECT_FALSE(answer(asked)->allowed);
  EXPECT_THAT(answer(asked)->text, HasSubstr("with an explicit deny in a resource-based policy"));
}

TEST(PolicyQuestion, RefusesWhatMakesNoSense) {
  EXPECT_EQ(fault(question("Queries")), "--action: \"Queries\" is no action of DynamoDB");
  EXPECT_EQ(fault(question("Query", {"x"})), "--context: must be KEY=VALUE");
  EXPECT_EQ(fault(question("Query", {"aws:nothing=1"})),
            "--context: \"aws:nothing\" is no condition key that is known here");
  EXPECT_EQ(fault(question("Query", {"aws:username=a", "aws:username=b"})),
            "--context: \"aws:username\" has one value");
  PolicyQuestion broken = question("Query");
  broken.policies = {"{}"};
  EXPECT_THAT(fault(broken), HasSubstr("policy: Statement: is missing"));
}

}  // namespace
}  // namespace postino::app
