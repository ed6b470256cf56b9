#include "signed_calls_testing.h"

#include "access/key_policies.h"
#include "signature/request_signer.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

namespace {

constexpr base::TimePoint signing_time = base::TimePoint(std::chrono::seconds(1'795'032'000));

std::shared_ptr<const access::Policy> policy_of(const std::string& text) {
  auto policy = access::parse_policy(text, access::PolicyKind::identity, "test");
  EXPECT_TRUE(policy) << policy.error().message;
  return std::make_shared<const access::Policy>(policy ? *std::move(policy) : access::Policy());
}

}  // namespace

KeyPoliciesPointer SignedCallsTest::policies_of(const std::string& id, const std::string& policy,
                                                const std::string& customer) {
  access::Principal principal{"000000000000", id, id};
  if (!customer.empty())
    principal.values.emplace_back(*access::KeyReference::parse("aws:PrincipalTag/customer"), customer);
  return std::make_shared<const access::KeyPolicies>(principal, std::vector{policy_of(policy)});
}

void SignedCallsTest::add_key(const std::string& id, const std::string& policy, const std::string& customer) {
  keys_.push_back({id, id + "-secret", policies_of(id, policy, customer)});
  EndpointOptions options;
  options.access_keys = keys_;
  options.clock = std::make_shared<base::ManualClock>(signing_time);
  replace_endpoint(options);
}

http::Response SignedCallsTest::as(const std::string& id, const std::string& operation, const std::string& body) {
  const std::string streams = "DynamoDBStreams_20120810.";
  const std::string api = find_operation(streams + operation) != nullptr ? streams : "DynamoDB_20120810.";
  http::ClientRequest request;
  request.method = "POST";
  request.url = *net::Url::parse("http://127.0.0.1:8000/");
  request.headers = {{"Content-Type", "application/x-amz-json-1.0"}, {"X-Amz-Target", api + operation}};
  request.body = body;
  signature::sign_request(request, {id, id + "-secret", ""}, {"us-east-1", "dynamodb"}, signing_time);
  Headers headers(request.headers.begin(), request.headers.end());
  headers.emplace_back("Host", "127.0.0.1:8000");
  return send("POST", "/", headers, body);
}

std::string SignedCallsTest::text_of(const std::string& body, const std::string& name) {
  const std::string mark = "\"" + name + "\":\"";
  const std::size_t begin = body.find(mark);
  EXPECT_NE(begin, std::string::npos) << body;
  return body.substr(begin + mark.size(), body.find('"', begin + mark.size()) - begin - mark.size());
}

}  // namespace postino::wire
