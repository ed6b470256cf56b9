// Policies that tables and streams have: kept, shown, and joined into what callers may do.
#include "endpoint_testing.h"
#include "signed_calls_testing.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string table = "arn:aws:dynamodb:us-east-1:000000000000:table/items";
const std::string item = R"({"TableName":"items","Item":{"pk":{"S":"a"}}})";
const std::string key = R"({"TableName":"items","Key":{"pk":{"S":"a"}}})";

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char each : text) (each == '"' ? out += '\\' : out) += each;
  return out + "\"";
}

std::string document(const std::string& statement) {
  return R"({"Version":"2012-10-17","Statement":[)" + statement + "]}";
}

std::string statement(const std::string& effect, const std::string& principal, const std::string& action,
                      const std::string& rest = "") {
  return R"({"Effect":")" + effect + R"(","Principal":)" + principal + R"(,"Action":")" + action +
         R"(","Resource":")" + table + "\"" + rest + "}";
}

std::string put_request(const std::string& policy, const std::string& rest = "", const std::string& arn = table) {
  return R"({"ResourceArn":")" + arn + R"(","Policy":)" + quoted(policy) + rest + "}";
}
const std::string on_table = R"({"ResourceArn":")" + table + "\"}";

class ResourcePolicyTest : public SignedCallsTest {
 protected:
  ResourcePolicyTest() { create_table("items"); }

  static std::string revision_in(const std::string& body) { return text_of(body, "RevisionId"); }
};

TEST_F(ResourcePolicyTest, IsKeptAsItWasWritten) {
  const std::string policy = document(statement("Allow", "\"*\"", "dynamodb:GetItem"));
  EXPECT_EQ(refusal("GetResourcePolicy", on_table),
            "PolicyNotFoundException: Resource-based policy not found for the provided ResourceArn: " + table);
  EXPECT_EQ(answer("DeleteResourcePolicy", on_table), "{}");
  const std::string revision = revision_in(answer("PutResourcePolicy", put_request(policy)));
  EXPECT_EQ(answer("GetResourcePolicy", on_table),
            R"({"Policy":)" + quoted(policy) + R"(,"RevisionId":")" + revision + "\"}");
  EXPECT_EQ(revision_in(answer("PutResourcePolicy", put_request(policy))), revision) << "nothing has changed";
  restart({});
  EXPECT_THAT(answer("GetResourcePolicy", on_table), HasSubstr(revision));
  EXPECT_EQ(answer("DeleteResourcePolicy", on_table), R"({"RevisionId":")" + revision + "\"}");
  EXPECT_THAT(refusal("GetResourcePolicy", on_table), HasSubstr("PolicyNotFoundException"));
}

TEST_F(ResourcePolicyTest, IsOnlyReplacedWhereItIsTheExpectedOne) {
  const std::string one = document(statement("Allow", "\"*\"", "dynamodb:GetItem"));
  const std::string other = document(statement("Allow", "\"*\"", "dynamodb:Query"));
  EXPECT_THAT(refusal("PutResourcePolicy", put_request(one, R"(,"ExpectedRevisionId":"1")")),
              HasSubstr("PolicyNotFoundException"));
  const std::string none = R"(,"ExpectedRevisionId":"NO_POLICY")";
  const std::string first = revision_in(answer("PutResourcePolicy", put_request(one, none)));
  EXPECT_THAT(refusal("PutResourcePolicy", put_request(other, none)), HasSubstr("PolicyNotFoundException"));
  const std::string expected = R"(,"ExpectedRevisionId":")" + first + "\"";
  const std::string second = revision_in(answer("PutResourcePolicy", put_request(other, expected)));
  EXPECT_NE(first, second);
  EXPECT_THAT(refusal("DeleteResourcePolicy", R"({"ResourceArn":")" + table + "\"" + expected + "}"),
              HasSubstr("PolicyNotFoundException"));
  EXPECT_THAT(answer("GetResourcePolicy", on_table), HasSubstr("dynamodb:Query"));
}

TEST_F(ResourcePolicyTest, IsRefusedWithThePlaceOfItsFault) {
  EXPECT_THAT(refusal("PutResourcePolicy", put_request("{")), HasSubstr("ValidationException: Invalid policy"));
  EXPECT_THAT(refusal("PutResourcePolicy", put_request(document(R"({"Effect":"Allow","Action":"*","Resource":"*"})"))),
              HasSubstr("Statement[0].Principal"));
  EXPECT_THAT(refusal("PutResourcePolicy",
                      put_request(document(statement("Allow", "\"*\"", "dynamodb:GetItem",
                                                     R"(,"Condition":{"StringSame":{"aws:SourceIp":"1"}})")))),
              HasSubstr("StringSame"));
  EXPECT_THAT(refusal("PutResourcePolicy", put_request(document(statement("Allow", "\"*\"", "*")), "", table + "x")),
              HasSubstr("ResourceNotFoundException"));
  EXPECT_THAT(refusal("PutResourcePolicy",
                      put_request(document(statement("Allow", "\"*\"", "*")), "", table + "/index/by-name")),
              HasSubstr("only table or stream is accepted"));
  EXPECT_THAT(refusal("PutResourcePolicy", "{}"), HasSubstr("'policy' failed to satisfy constraint"));
  EXPECT_THAT(refusal("GetResourcePolicy", on_table), HasSubstr("PolicyNotFoundException")) << "nothing was kept";
}

TEST_F(ResourcePolicyTest, AllowsWhatTheKeysOwnPoliciesDoNot) {
  add_key("guest", document(R"({"Effect":"Allow","Action":"dynamodb:ListTables","Resource":"*"})"));
  add_key("other", document(R"({"Effect":"Allow","Action":"dynamodb:ListTables","Resource":"*"})"));
  const std::string guest = R"({"AWS":"arn:aws:iam::000000000000:user/guest"})";
  EXPECT_THAT(as("guest", "GetItem", key).body, HasSubstr("AccessDenied"));
  EXPECT_EQ(as("admin", "PutResourcePolicy", put_request(document(statement("Allow", guest, "dynamodb:GetItem")))).status,
            200);
  EXPECT_EQ(as("guest", "GetItem", key).status, 200);
  EXPECT_THAT(as("guest", "PutItem", item).body, HasSubstr("AccessDenied"));
  EXPECT_THAT(as("other", "GetItem", key).body, HasSubstr("AccessDenied"));
  EXPECT_EQ(as("admin", "DeleteResourcePolicy", on_table).status, 200);
  EXPECT_THAT(as("guest", "GetItem", key).body, HasSubstr("AccessDenied"));
}

TEST_F(ResourcePolicyTest, DeniesEvenThoseWhoMayDoEverything) {
  add_key("writer", document(R"({"Effect":"Allow","Action":"*","Resource":"*"})"));
  as("admin", "PutResourcePolicy", put_request(document(statement("Deny", "\"*\"", "*"))));
  EXPECT_THAT(as("writer", "PutItem", item).body, HasSubstr("with an explicit deny in a resource-based policy"));
  EXPECT_THAT(as("admin", "PutItem", item).body, HasSubstr("explicit deny in a resource-based policy"));
  EXPECT_EQ(as("admin", "ListTables", "{}").status, 200) << "it is about its table alone";
  EXPECT_EQ(as("admin", "DeleteResourcePolicy", on_table).status, 200) << "the owner can always mend it";
  EXPECT_EQ(as("writer", "PutItem", item).status, 200);
}

TEST_F(ResourcePolicyTest, LooksAtConditionsThatNoOtherPolicyHas) {
  const std::string only_own = R"(,"Condition":{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["a"]}})";
  as("admin", "PutResourcePolicy", put_request(document(statement("Deny", "\"*\"", "dynamodb:GetItem", only_own))));
  add_key("reader", document(R"({"Effect":"Allow","Action":"*","Resource":"*"})"));
  EXPECT_THAT(as("reader", "GetItem", key).body, HasSubstr("AccessDenied"));
  EXPECT_EQ(as("reader", "GetItem", R"({"TableName":"items","Key":{"pk":{"S":"b"}}})").status, 200);
}

TEST_F(ResourcePolicyTest, IsNotSetByOneWhomItShutsOutUnlessThatIsMeant) {
  add_key("manager", document(R"({"Effect":"Allow","Action":"*","Resource":"*"})"));
  const std::string policy = document(statement("Deny", "\"*\"", "dynamodb:*"));
  EXPECT_THAT(as("manager", "PutResourcePolicy", put_request(policy)).body, HasSubstr("ConfirmRemoveSelfResourceAccess"));
  EXPECT_EQ(as("manager", "PutResourcePolicy", put_request(policy, R"(,"ConfirmRemoveSelfResourceAccess":true)")).status,
            200);
  EXPECT_THAT(as("manager", "DeleteResourcePolicy", on_table).body, HasSubstr("AccessDenied"));
}

TEST_F(ResourcePolicyTest, GoesWithItsTable) {
  as("admin", "PutResourcePolicy", put_request(document(statement("Deny", "\"*\"", "dynamodb:GetItem"))));
  EXPECT_EQ(as("admin", "DeleteTable", R"({"TableName":"items"})").status, 200);
  create_table("items");
  EXPECT_THAT(as("admin", "GetResourcePolicy", on_table).body, HasSubstr("PolicyNotFoundException"));
  EXPECT_EQ(as("admin", "GetItem", key).status, 200);
}

TEST_F(ResourcePolicyTest, MayComeWithANewTable) {
  const std::string request =
      R"({"TableName":"made","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],)"
      R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"ResourcePolicy":)";
  EXPECT_THAT(refusal("CreateTable", request + "\"{}\"}"), HasSubstr("Invalid policy document"));
  answer("CreateTable", request + quoted(document(statement("Allow", "\"*\"", "dynamodb:GetItem"))) + "}");
  EXPECT_THAT(answer("GetResourcePolicy", R"({"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/made"})"),
              HasSubstr("dynamodb:GetItem"));
}

TEST_F(ResourcePolicyTest, ProtectsAStreamByItself) {
  const std::string made = answer("CreateTable",
                                  R"({"TableName":"streamed","BillingMode":"PAY_PER_REQUEST",)"
                                  R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],)"
                                  R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
                                  R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})");
  const std::string stream = text_of(made, "LatestStreamArn");
  const std::string policy = document(R"({"Effect":"Deny","Principal":"*","Action":"dynamodb:DescribeStream",)"
                                      R"("Resource":")" + stream + "\"}");
  EXPECT_EQ(as("admin", "DescribeStream", R"({"StreamArn":")" + stream + "\"}").status, 200);
  EXPECT_EQ(as("admin", "PutResourcePolicy", put_request(policy, "", stream)).status, 200);
  EXPECT_THAT(as("admin", "DescribeStream", R"({"StreamArn":")" + stream + "\"}").body, HasSubstr("AccessDenied"));
  EXPECT_EQ(as("admin", "DescribeTable", R"({"TableName":"streamed"})").status, 200);
  EXPECT_THAT(as("admin", "GetResourcePolicy", R"({"ResourceArn":")" + stream + "\"}").body,
              HasSubstr("dynamodb:DescribeStream"));
}

}  // namespace
}  // namespace postino::wire
