// Keys in the store, as callers of the REST API have them.
#include "access/key_ring.h"
#include "rest_fixture.h"

namespace postino::api {
namespace {

using access::AuditEvent;
using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

class KeysOfTheStore : public Rest {
 protected:
  KeysOfTheStore() {
    EXPECT_TRUE(access::prepare_keys(store(), {}));
    access::TenantQuotas quotas;
    quotas["north"].emails_per_day = 2;
    auto ring = access::KeyRing::open(keys_, clock(), nullptr, quotas);
    EXPECT_TRUE(ring);
    ring_ = *std::move(ring);
    ApiOptions options;
    options.keys.push_back(parse_api_key("boss:operator:secret-of-the-boss").value());
    options.keys.push_back(parse_api_key("tina:operator@north:secret-of-tina-00").value());
    options.stored_keys = ring_.get();
    start(std::move(options));
    ring_->listen([this](const access::KnownKeys& known) { api_->set_stored_keys(known); });
  }
  ~KeysOfTheStore() override {
    ring_->listen(nullptr);
    start({});  // the API goes before its keys
  }

  static Headers boss() { return {{"X-API-Key", "secret-of-the-boss"}}; }
  static Headers by(const std::string& secret) { return {{"Authorization", "Bearer " + secret}}; }
  Received make(const std::string& fields) { return call("POST", "/keys", "{" + fields + "}", boss()); }

  base::TemporaryDirectory folder_;
  sealing::SealerSource sealing_{folder_.path() / "sealing.key", true, random_};
  access::KeyStore keys_{store(), {}, sealing_, clock(), random_, retry_};
  std::unique_ptr<access::KeyRing> ring_;
};

TEST_F(KeysOfTheStore, CountUntilTheyExpire) {
  const Received made = make(R"("name":"shop","role":"reader","expires_at":"2026-01-02T04:04:05Z")");  // in an hour
  ASSERT_EQ(made.status(), 201) << made.response.body;
  const std::string secret = made.text("/secret");
  EXPECT_EQ(get("/emails", by(secret)).status(), 200);
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by(secret)).status(), 403);
  clock().advance(hours(1));
  const Received refused = get("/emails", by(secret));
  EXPECT_EQ(refused.status(), 401);
  EXPECT_THAT(refused.text("/detail"), HasSubstr("expired"));
  EXPECT_EQ(get("/keys", boss()).text("/data/0/state"), "expired");
}

TEST_F(KeysOfTheStore, AreKnownByTheWholeSecret) {
  const std::string secret = make(R"("name":"shop","role":"reader")").text("/secret");
  std::string other = secret;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& wrong :
       {other, secret.substr(0, 19), secret + "0", secret.substr(0, 20) + std::string(64, '0')})
    EXPECT_EQ(get("/emails", by(wrong)).status(), 401) << wrong;
}

TEST_F(KeysOfTheStore, AreForOperatorsWithoutATenant) {
  EXPECT_EQ(call("POST", "/keys", R"({"name":"x","role":"operator"})", {{"X-API-Key", "secret-of-tina-00"}}).status(),
            403);
  EXPECT_EQ(get("/keys", {{"X-API-Key", "secret-of-tina-00"}}).status(), 403);
  const std::string sender = make(R"("name":"shop","role":"sender")").text("/secret");
  EXPECT_EQ(get("/keys", by(sender)).status(), 403);
  EXPECT_EQ(call("POST", "/keys", R"({"name":"x","role":"operator"})", by(sender)).status(), 403);
}

TEST_F(KeysOfTheStore, HaveTheRulesOfThoseInTheSettings) {
  for (const auto& [fields, field] :
       {std::pair(R"("role":"sender")", "name"), std::pair(R"("name":"x")", "role"),
        std::pair(R"("name":"x","role":"king")", "role"), std::pair(R"("name":"x","role":"customer")", "customer"),
        std::pair(R"("name":"x","role":"sender","policy":"{}")", "policy"),
        std::pair(R"("name":"x","kind":"access_key","role":"sender")", "role"),
        std::pair(R"("name":"x","kind":"access_key","emails_per_day":1)", "emails_per_day"),
        std::pair(R"("name":"x","kind":"door")", "kind"), std::pair(R"("name":"x","role":"sender","more":1)", "more"),
        std::pair(R"("name":"x","role":"sender","requests_per_second":0)", "requests_per_second")}) {
    const Received refused = make(fields);
    EXPECT_EQ(refused.status(), 400) << fields;
    EXPECT_EQ(refused.text("/errors/0/field"), field) << fields;
  }
  EXPECT_EQ(make(R"("name":"a b","role":"sender")").status(), 400);
  EXPECT_EQ(get("/keys", boss()).size("/data"), 0U);
}

TEST_F(KeysOfTheStore, BelongToTheirTenantAndItsQuota) {
  const std::string north = make(R"("name":"n","role":"sender","tenant":"north")").text("/secret");
  const std::string south = make(R"("name":"s","role":"sender","tenant":"south")").text("/secret");
  const std::string id = accept_one("", by(north));
  EXPECT_EQ(get("/emails/" + id, by(south)).status(), 404);
  const Received second = call("POST", "/emails", batch(payload()), by(north));
  EXPECT_EQ(second.status(), 201);
  EXPECT_THAT(second.header("RateLimit"), HasSubstr(R"("tenant-emails";r=0;t=)"));
  const Received refused = call("POST", "/emails", batch(payload()), {{"X-API-Key", "secret-of-tina-00"}});
  EXPECT_EQ(refused.status(), 429) << "also for callers of the settings";
  EXPECT_EQ(refused.code(), "QUOTA_EXCEEDED");
  EXPECT_EQ(refused.header("Retry-After"), "75355") << "until the end of the day";
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by(south)).status(), 201);
  clock().advance(seconds(75'355));
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by(north)).status(), 201) << "the next day";
}

TEST_F(KeysOfTheStore, GiveBackWhatWasNotAccepted) {
  const std::string north = make(R"("name":"n","role":"sender","tenant":"north")").text("/secret");
  EXPECT_EQ(call("POST", "/emails", batch(R"({"from":"nobody"})"), by(north)).status(), 400);
  const Headers keyed = {{"Authorization", "Bearer " + north}, {"Idempotency-Key", "once"}};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call("POST", "/emails", batch(payload()), keyed).status(), 201);
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by(north)).status(), 201) << "a repeated request is not counted";
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by(north)).status(), 429);
}

TEST_F(KeysOfTheStore, RequestsAreCountedInASecond) {
  const std::string secret = make(R"("name":"shop","role":"reader","requests_per_second":2)").text("/secret");
  EXPECT_EQ(get("/emails", by(secret)).header("RateLimit-Policy"), R"("api_key-requests";q=2;w=1)");
  EXPECT_EQ(get("/emails", by(secret)).header("RateLimit"), R"("api_key-requests";r=0;t=1)");
  const Received refused = get("/emails", by(secret));
  EXPECT_EQ(refused.status(), 429);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  clock().advance(std::chrono::milliseconds(500));
  EXPECT_EQ(get("/emails", by(secret)).status(), 200) << "half a second is one of two";
  EXPECT_EQ(get("/emails", by(secret)).status(), 429);
  EXPECT_EQ(get("/emails", boss()).header("RateLimit"), "");
}

TEST_F(KeysOfTheStore, StayWhenTheSettingsAreReadAgain) {
  const std::string secret = make(R"("name":"shop","role":"reader")").text("/secret");
  api_->set_keys({parse_api_key("other:operator:secret-of-another").value()});
  EXPECT_EQ(get("/emails", by(secret)).status(), 200);
  EXPECT_EQ(get("/emails", boss()).status(), 401);
  api_->set_keys({});
  EXPECT_EQ(get("/emails").status(), 401) << "the API stays closed";
}

}  // namespace
}  // namespace postino::api
