// What the audit has of calls of DynamoDB's API.
#include <mutex>

#include "access/key_policies.h"
#include "access/policies.h"
#include "endpoint_testing.h"
#include "signature/request_signer.h"
#include "wire/audited_calls.h"

namespace postino::wire {
namespace {

using access::AuditEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint time_of_calls = base::TimePoint(std::chrono::seconds(1'795'032'000));

class ListedAudit final : public access::Audit {
 public:
  void note(AuditEvent event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  using Audit::record;
  void record(AuditEvent event, Done done) override {
    if (is_full) return done(base::fail(base::ErrorCode::exhausted, "the disk is full"));
    note(std::move(event));
    done({});
  }
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const AuditEvent& each : std::exchange(events_, {}))
      texts.push_back(each.actor + " " + each.action + " " + each.subject + " " + std::string(each.result) +
                      (each.detail.empty() ? "" : " " + each.detail));
    return texts;
  }
  bool is_full = false;

 private:
  std::mutex mutex_;
  std::vector<AuditEvent> events_;
};

class AuditedCallTest : public EndpointTest {
 protected:
  AuditedCallTest() {
    create_table("items");
    auto policy = access::parse_policy(
        R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*"}]})",
        access::PolicyKind::identity, "reader");
    EndpointOptions options;
    options.access_keys = {{"admin", "admin-secret", nullptr},
                           {"reader", "reader-secret",
                            std::make_shared<const access::KeyPolicies>(
                                access::Principal{"000000000000", "reader", "reader"},
                                std::vector{std::make_shared<const access::Policy>(*std::move(policy))})}};
    options.clock = std::make_shared<base::ManualClock>(time_of_calls);
    options.audit = &audit_;
    replace_endpoint(options);
  }
  ~AuditedCallTest() override { replace_endpoint({}); }  // the endpoint goes before its audit

  http::Response as(const std::string& id, const std::string& operation, const std::string& body,
                    const std::string& secret_end = "-secret") {
    http::ClientRequest request;
    request.method = "POST";
    request.url = *net::Url::parse("http://127.0.0.1:8000/");
    request.headers = {{"Content-Type", "application/x-amz-json-1.0"},
                       {"X-Amz-Target", "DynamoDB_20120810." + operation}};
    request.body = body;
    signature::sign_request(request, {id, id + secret_end, ""}, {"us-east-1", "dynamodb"}, time_of_calls);
    Headers headers(request.headers.begin(), request.headers.end());
    headers.emplace_back("Host", "127.0.0.1:8000");
    return send("POST", "/", headers, body);
  }

  ListedAudit audit_;
};

TEST_F(AuditedCallTest, ChangesOfTablesAreToldBeforeTheyAreMade) {
  EXPECT_EQ(as("admin", "GetItem", R"({"TableName":"items","Key":{"pk":{"S":"a"}}})").status, 200);
  EXPECT_EQ(as("admin", "DescribeTable", R"({"TableName":"items"})").status, 200);
  EXPECT_THAT(audit_.told(), IsEmpty()) << "reads are not told";
  EXPECT_EQ(as("admin", "DeleteTable", R"({"TableName":"items"})").status, 200);
  EXPECT_EQ(as("admin", "DeleteTable", R"({"TableName":"items"})").status, 400);
  EXPECT_THAT(audit_.told(),
              ElementsAre("admin dynamodb:DeleteTable items allowed", "admin dynamodb:DeleteTable items allowed",
                          "admin dynamodb:DeleteTable items failed ResourceNotFoundException"));
}

TEST_F(AuditedCallTest, RefusalsAreTold) {
  EXPECT_EQ(as("reader", "PutItem", R"({"TableName":"items","Item":{"pk":{"S":"a"}}})").status, 400);
  EXPECT_EQ(as("reader", "DeleteTable", R"({"TableName":"items"})").status, 400);
  EXPECT_EQ(as("admin", "GetItem", "{}", "-wrong").status, 400);
  EXPECT_EQ(as("stranger", "GetItem", "{}").status, 400);
  EXPECT_THAT(audit_.told(), ElementsAre("reader dynamodb:PutItem items refused AccessDeniedException",
                                         "reader dynamodb:DeleteTable items allowed",
                                         "reader dynamodb:DeleteTable items refused AccessDeniedException",
                                         "admin dynamodb:GetItem  refused InvalidSignatureException",
                                         " dynamodb:GetItem  refused UnrecognizedClientException"));
}

TEST_F(AuditedCallTest, NothingIsDoneWithoutIt) {
  audit_.is_full = true;
  const http::Response refused = as("admin", "DeleteTable", R"({"TableName":"items"})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("audit"));
  EXPECT_EQ(as("admin", "DescribeTable", R"({"TableName":"items"})").status, 200);
}

TEST(AuditedOperations, AreAllThatChangeTables) {
  std::vector<std::string_view> not_told;
  for (std::size_t i = 0; i < operation_count(); ++i)
    if (operation_at(i).plane == Plane::control && !is_audited(operation_at(i)))
      not_told.push_back(operation_at(i).name);
  for (const std::string_view name : not_told)
    EXPECT_TRUE(name.starts_with("Describe") || name.starts_with("List") || name.starts_with("Get")) << name;
  for (const char* const name : {"CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive",
                                 "UpdateContinuousBackups", "TagResource", "UntagResource"})
    EXPECT_TRUE(is_audited(*find_operation(std::string("DynamoDB_20120810.") + name))) << name;
}

}  // namespace
}  // namespace postino::wire
