#include "access/policy/decision.h"

#include <gtest/gtest.h>

#include "access/policy/document.h"

namespace postino::access {
namespace {

const Principal anna{"123456789012", "anna", "AKIAANNA"};
const std::string tickets = "arn:aws:dynamodb:us-east-1:123456789012:table/tickets";

Policy policy_of(const std::string& text, PolicyKind kind = PolicyKind::identity) {
  auto policy = parse_policy(text, kind, "test");
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? *std::move(policy) : Policy();
}

AccessRequest request_for(std::string_view action, std::string resource, const Principal& principal = anna) {
  AccessRequest request{*find_action(action), std::move(resource)};
  add_principal(request.context, principal);
  return request;
}

AccessRequest with_keys(AccessRequest request, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) request.context.add(ContextKey::leading_keys, key);
  return request;
}

bool allows(const Policy& policy, const AccessRequest& request, const Principal& principal = anna) {
  return decide({&policy}, request, principal).allowed();
}

Policy statements(const std::string& list) {
  return policy_of(R"({"Version":"2012-10-17","Statement":[)" + list + "]}");
}

const std::string allow_all = R"({"Effect":"Allow","Action":"dynamodb:*","Resource":"*"})";
const std::string deny_scan = R"({"Sid":"NoScan","Effect":"Deny","Action":"dynamodb:Scan","Resource":"*"})";

// The two policies of the support desk's documents, letter by letter.
class SupportDesk : public testing::Test {
 protected:
  SupportDesk() {
    customer_.values.emplace_back(*KeyReference::parse("cognito-identity.amazonaws.com:sub"), "us-east-1:11aa");
  }
  Principal customer_ = anna;
};

TEST_F(SupportDesk, ACustomerReadsItsOwnTickets) {
  const Policy policy = policy_of(R"(   {
     "Effect": "Allow",
     "Action": [
       "dynamodb:GetItem",
       "dynamodb:Query"
     ],
     "Resource": "arn:aws:dynamodb:region:account:table/tickets",
     "Condition": {
       "ForAllValues:StringEquals": {
         "dynamodb:LeadingKeys": ["TICKET#${cognito-identity.amazonaws.com:sub}"]
       }
     }
   })");
  const auto request = [&](const char* action, const std::string& key) {
    return with_keys(request_for(action, tickets, customer_), {key});
  };
  EXPECT_TRUE(allows(policy, request("GetItem", "TICKET#us-east-1:11aa"), customer_));
  EXPECT_TRUE(allows(policy, request("Query", "TICKET#us-east-1:11aa"), customer_));
  EXPECT_FALSE(allows(policy, request("GetItem", "TICKET#us-east-1:22bb"), customer_));
  EXPECT_FALSE(allows(policy, request("GetItem", "TICKET#"), customer_));
  EXPECT_FALSE(allows(policy, request("PutItem", "TICKET#us-east-1:11aa"), customer_));
  EXPECT_FALSE(allows(policy, request_for("Scan", tickets, customer_), customer_));
  EXPECT_FALSE(allows(policy, with_keys(request_for("GetItem", tickets), {"TICKET#"})));
  EXPECT_FALSE(allows(policy, with_keys(request_for("GetItem", tickets + "s", customer_), {"TICKET#us-east-1:11aa"}),
                      customer_));
}

TEST_F(SupportDesk, ACustomerQueriesItsOwnPartOfTheIndex) {
  const Policy policy = policy_of(R"(    {
      "Effect": "Allow",
      "Action": "dynamodb:Query",
      "Resource": "arn:aws:dynamodb:*:*:table/tickets/index/customer-index",
      "Condition": {
        "ForAllValues:StringEquals": {
          "dynamodb:LeadingKeys": ["CUSTOMER#${cognito-identity.amazonaws.com:sub}"]
        }
      }
    })");
  const std::string index = tickets + "/index/customer-index";
  const auto query = [&](const std::string& resource, const std::vector<std::string>& keys) {
    return with_keys(request_for("Query", resource, customer_), keys);
  };
  EXPECT_TRUE(allows(policy, query(index, {"CUSTOMER#us-east-1:11aa"}), customer_));
  EXPECT_FALSE(allows(policy, query(index, {"CUSTOMER#us-east-1:22bb"}), customer_));
  EXPECT_FALSE(allows(policy, query(index, {"CUSTOMER#us-east-1:11aa", "CUSTOMER#us-east-1:22bb"}), customer_));
  EXPECT_FALSE(allows(policy, query(tickets, {"CUSTOMER#us-east-1:11aa"}), customer_));
  EXPECT_FALSE(allows(policy, query(tickets + "/index/status-index", {"CUSTOMER#us-east-1:11aa"}), customer_));
}

TEST(Decision, NothingIsAllowedByItself) {
  const Policy policy = statements(R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*"})");
  EXPECT_EQ(decide({}, request_for("GetItem", tickets), anna).kind, Decision::Kind::not_allowed);
  EXPECT_EQ(decide({&policy}, request_for("PutItem", tickets), anna).kind, Decision::Kind::not_allowed);
  EXPECT_EQ(decide({&policy}, request_for("GetItem", tickets), anna).kind, Decision::Kind::allowed);
}

TEST(Decision, ADenyCountsBeforeEveryAllow) {
  for (const std::string& list : {allow_all + "," + deny_scan, deny_scan + "," + allow_all}) {
    const Policy policy = statements(list);
    const Decision decision = decide({&policy}, request_for("Scan", tickets), anna);
    EXPECT_EQ(decision.kind, Decision::Kind::denied);
    ASSERT_NE(decision.statement, nullptr);
    EXPECT_EQ(decision.statement->id, "NoScan");
    EXPECT_TRUE(allows(policy, request_for("Query", tickets)));
  }
  const Policy allow = statements(allow_all);
  const Policy deny = statements(deny_scan);
  EXPECT_FALSE(decide({&allow, &deny}, request_for("Scan", tickets), anna).allowed());
  EXPECT_FALSE(decide({&deny}, request_for("Scan", tickets), anna, true).allowed());
  EXPECT_TRUE(decide({&deny}, request_for("Query", tickets), anna, true).allowed());
}

TEST(Decision, NotActionAndNotResourceAreEverythingElse) {
  const Policy policy =
      statements(R"({"Effect":"Allow","NotAction":["dynamodb:Delete*","s3:*"],"NotResource":")" + tickets + "\"}");
  const std::string orders = "arn:aws:dynamodb:us-east-1:123456789012:table/orders";
  EXPECT_TRUE(allows(policy, request_for("PutItem", orders)));
  EXPECT_FALSE(allows(policy, request_for("DeleteItem", orders)));
  EXPECT_FALSE(allows(policy, request_for("DeleteTable", orders)));
  EXPECT_FALSE(allows(policy, request_for("PutItem", tickets)));
}

TEST(Decision, StarsInResourcesStayInTheirPart) {
  const Policy policy = statements(R"({"Effect":"Allow","Action":"dynamodb:*",)"
                                   R"("Resource":"arn:aws:dynamodb:*:123456789012:table/tic*"})");
  EXPECT_TRUE(allows(policy, request_for("GetItem", tickets)));
  EXPECT_TRUE(allows(policy, request_for("Query", tickets + "/index/by-date")));
  EXPECT_FALSE(allows(policy, request_for("GetItem", "arn:aws:dynamodb:us-east-1:999999999999:table/tickets")));
  EXPECT_FALSE(allows(policy, request_for("ListTables", "*")));
}

TEST(Decision, ResourcesMayHaveVariables) {
  const Policy policy = statements(R"({"Effect":"Allow","Action":"dynamodb:*",)"
                                   R"("Resource":"arn:aws:dynamodb:*:*:table/${aws:username}-*"})");
  EXPECT_TRUE(allows(policy, request_for("GetItem", "arn:aws:dynamodb:us-east-1:123456789012:table/anna-orders")));
  EXPECT_FALSE(allows(policy, request_for("GetItem", "arn:aws:dynamodb:us-east-1:123456789012:table/bob-orders")));
}

// A variable without a value never gives a right: neither by what an Allow excludes, nor by what it must differ from.
TEST(Decision, AVariableThatStandsForNothingAllowsNothing) {
  const Policy excluded = statements(R"({"Effect":"Allow","Action":"dynamodb:*",)"
                                     R"("NotResource":"arn:aws:dynamodb:*:*:table/${aws:PrincipalTag/secret}"})");
  EXPECT_FALSE(allows(excluded, request_for("GetItem", tickets)));
  const std::string condition =
      R"(,"Action":"dynamodb:*","Resource":"*","Condition":{"StringNotEquals":{"aws:username":"${aws:PrincipalTag/x}"}}})";
  EXPECT_FALSE(allows(statements(R"({"Effect":"Allow")" + condition), request_for("GetItem", tickets)));
  EXPECT_FALSE(allows(statements(allow_all + R"(,{"Effect":"Deny")" + condition), request_for("GetItem", tickets)));
}

TEST(Decision, ResourcePoliciesSayWhomTheyMean) {
  const auto policy = [](const std::string& principal) {
    return policy_of(R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":)" + principal +
                         R"(,"Action":"dynamodb:GetItem","Resource":"*"}]})",
                     PolicyKind::resource);
  };
  const AccessRequest request = request_for("GetItem", tickets);
  EXPECT_TRUE(allows(policy("\"*\""), request));
  EXPECT_TRUE(allows(policy(R"({"AWS":"123456789012"})"), request));
  EXPECT_TRUE(allows(policy(R"({"AWS":"arn:aws:iam::123456789012:root"})"), request));
  EXPECT_TRUE(allows(policy(R"({"AWS":"arn:aws:iam::123456789012:user/anna"})"), request));
  EXPECT_FALSE(allows(policy(R"({"AWS":"arn:aws:iam::123456789012:user/bob"})"), request));
  EXPECT_FALSE(allows(policy(R"({"AWS":"999999999999"})"), request));
  EXPECT_FALSE(allows(policy(R"({"Service":"replication.dynamodb.amazonaws.com"})"), request));
}

TEST(Decision, DenialsHaveTheTextsOfAws) {
  const Policy policy = statements(allow_all + "," + deny_scan);
  EXPECT_EQ(denial_text({}, *find_action("GetItem"), tickets, anna),
            "User: arn:aws:iam::123456789012:user/anna is not authorized to perform: dynamodb:GetItem on resource: "
            "arn:aws:dynamodb:us-east-1:123456789012:table/tickets because no identity-based policy allows the "
            "dynamodb:GetItem action");
  const AccessRequest scan = request_for("Scan", tickets);
  EXPECT_EQ(denial_text(decide({&policy}, scan, anna), scan.action, tickets, anna),
            "User: arn:aws:iam::123456789012:user/anna is not authorized to perform: dynamodb:Scan on resource: "
            "arn:aws:dynamodb:us-east-1:123456789012:table/tickets with an explicit deny in an identity-based policy");
}

TEST(Decision, CanBeExplained) {
  const Policy policy =
      statements(R"({"Effect":"Allow","Action":"dynamodb:PutItem","Resource":"*"},)"
                 R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"arn:aws:dynamodb:*:*:table/orders"},)"
                 R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*",)"
                 R"("Condition":{"Bool":{"aws:SecureTransport":"true"}}},)" +
                 allow_all);
  const auto explanations = explain({&policy}, request_for("GetItem", tickets), anna);
  ASSERT_EQ(explanations.size(), 4U);
  EXPECT_EQ(explanations[0].verdict.verdict, Verdict::other_action);
  EXPECT_EQ(explanations[1].verdict.verdict, Verdict::other_resource);
  EXPECT_EQ(explanations[2].verdict.verdict, Verdict::condition_failed);
  EXPECT_EQ(explanations[2].verdict.failed->operator_name(), "Bool");
  EXPECT_EQ(explanations[3].verdict.verdict, Verdict::applies);
}

// Whether a table is there is told only to those who could be allowed something of it.
TEST(Decision, TellsWhatCouldBeAllowed) {
  const Policy policy =
      statements(R"({"Effect":"Allow","Action":"dynamodb:GetItem","Resource":")" + tickets +
                 R"(","Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"x"}}},)" + deny_scan);
  EXPECT_TRUE(could_allow({&policy}, *find_action("GetItem"), tickets, anna));
  EXPECT_FALSE(could_allow({&policy}, *find_action("GetItem"), tickets + "2", anna));
  EXPECT_FALSE(could_allow({&policy}, *find_action("Scan"), tickets, anna));
}

TEST(Actions, AreKnownByTheirNames) {
  EXPECT_EQ(find_action("GetItem"), action_named("GetItem"));
  EXPECT_EQ(find_action("dynamodb:getitem"), action_named("GetItem"));
  EXPECT_EQ(find_action("s3:GetItem"), std::nullopt);
  EXPECT_EQ(actions_matching("dynamodb:*Item")->count(), 7U);
  EXPECT_TRUE(actions_matching("dynamodb:PartiQL*")->test(action_named("PartiQLSelect").number));
}

}  // namespace
}  // namespace postino::access
