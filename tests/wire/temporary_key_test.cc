// Temporary keys at DynamoDB's API: what they may do, and when they end.
#include "access/temporary_key.h"

#include "endpoint_testing.h"
#include "signature/request_signer.h"

namespace postino::wire {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

constexpr base::TimePoint start = base::TimePoint(std::chrono::seconds(1'795'032'000));
constexpr auto get_item = R"({"TableName":"orders","Key":{"pk":{"S":"1"}}})";
constexpr auto put_item = R"({"TableName":"orders","Item":{"pk":{"S":"1"}}})";

class TemporaryKeys : public EndpointTest {
 protected:
  TemporaryKeys() {
    create_table("orders");
    AccessKey desk{"DESK", "desk-secret"};
    desk.use = std::make_shared<access::KeyUse>();
    desk.principal = {"000000000000", "desk", "DESK"};
    keys_ = {{"CONFIGURED", "configured-secret"}, desk};
    serve();
  }

  void serve() {
    EndpointOptions options;
    options.access_keys = keys_;
    options.keys_only = true;
    options.clock = clock_;
    options.open_token = [this](std::string_view token) { return access::open_session_token(token, sealer_); };
    replace_endpoint(options);
  }
  void give_policy(const std::string& policy) {
    keys_[1].policies = std::make_shared<const access::KeyPolicies>(
        keys_[1].principal, std::vector{std::make_shared<const access::Policy>(
                                access::parse_policy(policy, access::PolicyKind::identity, "test").value())});
    serve();
  }
  access::TemporaryKey make(const std::string& policy = "", const std::string& from = "DESK") {
    return access::make_temporary_key(from, start + hours(1), policy, random_);
  }
  std::string token_of(const access::TemporaryKey& key) { return access::session_token(key, sealer_); }
  // The body of what it is answered.
  std::string as(const access::TemporaryKey& key, const std::string& token, const std::string& operation,
                 const std::string& body) {
    http::ClientRequest request;
    request.method = "POST";
    request.url = *net::Url::parse("http://127.0.0.1:8000/");
    request.headers = {{"Content-Type", "application/x-amz-json-1.0"},
                       {"X-Amz-Target", "DynamoDB_20120810." + operation}};
    request.body = body;
    signature::sign_request(request, {key.id, key.secret, token}, {"us-east-1", "dynamodb"}, clock_->now());
    Headers headers(request.headers.begin(), request.headers.end());
    headers.emplace_back("Host", "127.0.0.1:8000");
    return send("POST", "/", headers, body).body;
  }
  std::string as(const access::TemporaryKey& key, const std::string& operation, const std::string& body) {
    return as(key, token_of(key), operation, body);
  }

  static std::string allows(const std::string& action) {
    return R"({"Statement":[{"Effect":"Allow","Action":")" + action + R"(","Resource":"*"}]})";
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(start);
  base::SeededRandom random_{1};
  sealing::Sealer sealer_{{std::string(sealing::key_bytes, 'k')}, random_};
  std::vector<AccessKey> keys_;
};

constexpr auto invalid = "The security token included in the request is invalid";

TEST_F(TemporaryKeys, MayDoWhatTheirKeyMay) {
  EXPECT_EQ(as(make(), "PutItem", put_item), "{}");
  give_policy(allows("dynamodb:GetItem"));
  EXPECT_THAT(as(make(), "GetItem", get_item), HasSubstr(R"("Item")"));
  EXPECT_THAT(as(make(), "PutItem", put_item), HasSubstr("no identity-based policy allows the dynamodb:PutItem"));
}

TEST_F(TemporaryKeys, MayDoWhatBothPoliciesAllowAlone) {
  const access::TemporaryKey key = make(allows("dynamodb:GetItem"));
  EXPECT_EQ(as(key, "GetItem", get_item), "{}");
  EXPECT_THAT(as(key, "PutItem", put_item), HasSubstr("AccessDeniedException"));
  give_policy(allows("dynamodb:*"));
  EXPECT_EQ(as(key, "GetItem", get_item), "{}");
  EXPECT_THAT(as(key, "PutItem", put_item), HasSubstr("no session policy allows the dynamodb:PutItem"));
  give_policy(allows("dynamodb:PutItem"));
  EXPECT_THAT(as(key, "GetItem", get_item), HasSubstr("no identity-based policy allows the dynamodb:GetItem"));
  EXPECT_THAT(as(key, "PutItem", put_item), HasSubstr("no session policy allows the dynamodb:PutItem"));
}

TEST_F(TemporaryKeys, EndWithTheirTimeAndWithTheirKey) {
  const access::TemporaryKey key = make();
  clock_->advance(minutes(59));
  EXPECT_EQ(as(key, "GetItem", get_item), "{}");
  clock_->advance(minutes(1));
  EXPECT_THAT(as(key, "GetItem", get_item), HasSubstr("ExpiredTokenException"));
  const access::TemporaryKey later = access::make_temporary_key("DESK", start + hours(9), "", random_);
  EXPECT_EQ(as(later, "GetItem", get_item), "{}");
  keys_[1].expires_at = start + hours(2);
  serve();
  EXPECT_EQ(as(later, "GetItem", get_item), "{}");
  clock_->advance(hours(1));
  EXPECT_THAT(as(later, "GetItem", get_item), HasSubstr(invalid)) << "its key has expired";
  keys_.pop_back();
  serve();
  EXPECT_THAT(as(later, "GetItem", get_item), HasSubstr(invalid)) << "its key was deleted";
}

TEST_F(TemporaryKeys, AreNothingWithoutTheirOwnToken) {
  const access::TemporaryKey key = make();
  const std::string good = token_of(key);
  EXPECT_THAT(as(key, "", "GetItem", get_item), HasSubstr(invalid));
  EXPECT_THAT(as(key, "made up", "GetItem", get_item), HasSubstr(invalid));
  EXPECT_THAT(as(key, token_of(make()), "GetItem", get_item), HasSubstr(invalid)) << "that of another one";
  EXPECT_THAT(as(key, good.substr(0, good.size() - 4), "GetItem", get_item), HasSubstr(invalid));
  access::TemporaryKey wrong = key;
  wrong.secret = "another";
  EXPECT_THAT(as(wrong, good, "GetItem", get_item), HasSubstr("InvalidSignatureException"));
  access::TemporaryKey of_key = key;
  of_key.id = "DESK";
  of_key.secret = "desk-secret";
  EXPECT_THAT(as(of_key, good, "GetItem", get_item), HasSubstr(invalid)) << "with the key itself";
  base::SeededRandom other_random(2);
  const sealing::Sealer other({std::string(sealing::key_bytes, 'o')}, other_random);
  EXPECT_THAT(as(key, access::session_token(key, other), "GetItem", get_item), HasSubstr(invalid));
  EXPECT_THAT(as(make("", "CONFIGURED"), "GetItem", get_item), HasSubstr(invalid)) << "keys of the settings have none";
}

}  // namespace
}  // namespace postino::wire
