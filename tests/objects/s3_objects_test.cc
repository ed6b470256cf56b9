#include "objects/s3_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "net/certificates_testing.h"
#include "object_store_conformance.h"
#include "objects/request_time.h"
#include "s3_server.h"

namespace postino::objects {
namespace {

using base::ErrorCode;
using testing::HasSubstr;
using testing::Not;

S3Options options_for(const S3Server& server) {
  S3Options options;
  options.endpoint = server.url();
  options.region = "eu-west-1";
  options.bucket = "postino-test";
  options.keys = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  options.call_time = options.probe_time = std::chrono::minutes(1);
  options.gate.rest = base::Milliseconds(0);
  return options;
}

class S3UnderTest final : public ObjectStoreUnderTest {
 public:
  ObjectStore& objects() override { return *objects_; }

 private:
  const S3Server server_;
  const base::SystemClock clock_;
  base::SystemRandom random_;
  const std::unique_ptr<S3Objects> objects_ =
      S3Objects::create(options_for(server_), clock_, random_, [](base::Milliseconds) {}).value();
};

INSTANTIATE_TEST_SUITE_P(S3, ObjectStoreConformance, testing::Values([] { return std::make_unique<S3UnderTest>(); }));

class S3ObjectsTest : public testing::Test {
 protected:
  std::unique_ptr<S3Objects> create(S3Options options) {
    auto objects = S3Objects::create(std::move(options), clock_, random_, [this](base::Milliseconds) { ++pauses_; });
    EXPECT_TRUE(objects) << objects.error().message;
    return *std::move(objects);
  }

  S3Server server_;
  base::SystemClock clock_;
  base::SeededRandom random_{1};
  int pauses_ = 0;
};

// Keys as a role has them: the first ones have ended.
class ChangingKeys final : public signature::KeySource {
 public:
  base::Result<signature::AccessKeys> keys() override {
    if (refusals == 0) return signature::AccessKeys{"AKIDENDED", "former", ""};
    return signature::AccessKeys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  }
  void refused() override { ++refusals; }

  int refusals = 0;
};

TEST_F(S3ObjectsTest, KeysThatHaveEndedAreAskedForAgain) {
  const auto keys = std::make_shared<ChangingKeys>();
  S3Options options = options_for(server_);
  options.keys = {};
  options.key_source = keys;
  const auto objects = create(std::move(options));
  EXPECT_TRUE(objects->put("a", "bytes"));
  EXPECT_EQ(keys->refusals, 1);
  EXPECT_EQ(objects->get("a").value_or("-"), "bytes");
}

TEST_F(S3ObjectsTest, ABusyServerIsAskedAgain) {
  const auto objects = create(options_for(server_));
  server_.instruct(R"({"answers": [{"status": 503, "body": "<Error><Code>SlowDown</Code></Error>"}, {"status": 500},
                                   {"status": 429}, {"status": 502, "body": "<html>bad gateway</html>"}]})");
  EXPECT_TRUE(objects->put("a", "bytes"));
  EXPECT_EQ(pauses_, 4);
  EXPECT_EQ(objects->get("a").value_or("-"), "bytes");
  EXPECT_EQ(objects->problem(), std::nullopt);
  server_.instruct(R"({"answers": [{"status": 503}, {"status": 503}, {"status": 503}, {"status": 503},
                                   {"status": 503, "body": "<Error><Code>SlowDown</Code><Message>later</Message></Error>"}]})");
  const auto refused = objects->put("b", "bytes");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_THAT(refused.error().message, HasSubstr("503 SlowDown: later"));
  EXPECT_THAT(objects->problem().value_or(""), HasSubstr("SlowDown"));
  EXPECT_EQ(objects->get("b").error().code, ErrorCode::not_found);
}

TEST_F(S3ObjectsTest, ConnectionsThatBreakAreMadeAgain) {
  const auto objects = create(options_for(server_));
  server_.instruct(R"({"cut": 2})");
  EXPECT_TRUE(objects->put("a", "bytes"));
  server_.instruct(R"({"cut_after": 1})");
  EXPECT_TRUE(objects->put("b", "other")) << "done, and done again";
  server_.instruct(R"({"cut_after": 1})");
  EXPECT_EQ(objects->get("a").value_or("-"), "bytes");
  server_.instruct(R"({"cut_after": 1})");
  EXPECT_TRUE(objects->remove("a"));
  EXPECT_EQ(objects->list("", "", 10)->objects.size(), 1U);
}

TEST_F(S3ObjectsTest, RefusalsAreNotRepeated) {
  S3Options options = options_for(server_);
  options.keys.secret = "wrong";
  const auto objects = create(options);
  const auto refused = objects->put("a", "bytes");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_THAT(refused.error().message, HasSubstr("403 SignatureDoesNotMatch"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("wrong")));
  EXPECT_EQ(server_.requests(), 1);
  EXPECT_EQ(pauses_, 0);
  options = options_for(server_);
  options.bucket = "another";
  const auto nowhere = create(options)->get("a");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::io) << "a bucket that is not there has not lost the object";
  EXPECT_THAT(nowhere.error().message, HasSubstr("NoSuchBucket"));
}

TEST_F(S3ObjectsTest, AnObjectThatMayNotBeReadSaysNothingOfTheOthers) {
  const auto objects = create(options_for(server_));
  for (const std::string code : {"AccessDenied", "InvalidObjectState"}) {
    const std::string answer = R"({"status": 403, "body": "<Error><Code>)" + code + R"(</Code></Error>"})";
    server_.instruct(R"({"answers": [)" + answer + ", " + answer + ", " + answer + "]}");
    const auto got = objects->get("a");
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::corrupt);
    EXPECT_THAT(got.error().message, HasSubstr(code));
    EXPECT_EQ(objects->put("a", "bytes").error().code, ErrorCode::io);
    EXPECT_EQ(objects->list("", "", 1).error().code, ErrorCode::io);
  }
}

TEST_F(S3ObjectsTest, AWrongClockIsSetRight) {
  const base::ManualClock wrong(base::TimePoint(std::chrono::seconds(1'600'000'000)));
  auto objects = S3Objects::create(options_for(server_), wrong, random_, [](base::Milliseconds) {}).value();
  EXPECT_TRUE(objects->put("a", "bytes"));
  EXPECT_EQ(server_.requests(), 2);
  EXPECT_EQ(objects->get("a").value_or("-"), "bytes");
  EXPECT_EQ(server_.requests(), 3) << "once is enough";
  const auto page = objects->list("", "", 10);
  ASSERT_TRUE(page);
  EXPECT_LT(page->now - page->objects.at(0).modified, std::chrono::hours(1)) << "ages are by the clock of the server";
  server_.instruct(R"({"ahead": 86400})");
  EXPECT_EQ(objects->get("a").value_or("-"), "bytes");
  EXPECT_EQ(objects->list("", "", 10)->now > page->now + std::chrono::hours(23), true);
}

TEST_F(S3ObjectsTest, ATokenIsSigned) {
  S3Options options = options_for(server_);
  options.keys.session_token = "temporary/token==";
  EXPECT_TRUE(create(options)->put("a", "bytes")) << "the server checks all headers that are signed";
}

TEST_F(S3ObjectsTest, SomethingElseIsNoAnswer) {
  const auto objects = create(options_for(server_));
  server_.instruct(R"({"answers": [{"status": 200, "body": "<html>Please log in</html>"}]})");
  EXPECT_FALSE(objects->list("", "", 10));
  server_.instruct(R"({"answers": [{"status": 301}]})");
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::io) << "redirections are not followed";
  server_.instruct(R"({"answers": [{"status": 204}]})");
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::io);
}

TEST_F(S3ObjectsTest, AServerThatIsGoneIsToldOf) {
  const auto objects = create(options_for(server_));
  server_.kill();
  const auto got = objects->get("a");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::io);
  EXPECT_EQ(pauses_, 4);
  EXPECT_THAT(objects->problem().value_or(""), HasSubstr("the object store"));
}

TEST_F(S3ObjectsTest, AServerThatIsKnownToBeGoneIsNotWaitedFor) {
  S3Options options = options_for(server_);
  options.gate.rest = std::chrono::hours(1);
  base::ManualClock clock(base::SystemClock().now());
  const auto objects = S3Objects::create(options, clock, random_, [this](base::Milliseconds) { ++pauses_; }).value();
  server_.instruct(R"({"answers": [{"status": 503}, {"status": 503}, {"status": 503}, {"status": 503},
                                   {"status": 503}]})");
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::io);
  EXPECT_EQ(server_.requests(), 5);
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::exhausted);
  EXPECT_EQ(objects->put("a", "bytes").error().code, ErrorCode::exhausted);
  EXPECT_EQ(server_.requests(), 5) << "nobody asked";
  clock.advance(std::chrono::hours(1));
  server_.instruct(R"({"answers": [{"status": 503}]})");
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::io);
  EXPECT_EQ(server_.requests(), 6) << "one attempt tells whether it is back";
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::exhausted);
  clock.advance(std::chrono::hours(1));
  server_.instruct(R"({"answers": [{"status": 403}]})");
  EXPECT_EQ(objects->get("a").error().code, ErrorCode::not_found) << "one that refuses is there";
  EXPECT_EQ(server_.requests(), 9) << "whether it is back, the same dated by its clock, and then what was asked for";
}

TEST_F(S3ObjectsTest, ARequestWaitsForAllItsObjectsTogether) {
  const auto objects = create(options_for(server_));
  ASSERT_TRUE(objects->put("a", "bytes"));
  const int asked = server_.requests();
  {
    const RequestTime request;
    ASSERT_TRUE(objects->get("a"));
    RequestTime::end_of_call(base::Milliseconds(0));  // as if it had waited so long
    EXPECT_EQ(objects->get("a").error().code, ErrorCode::exhausted);
    EXPECT_EQ(server_.requests(), asked + 1);
  }
  EXPECT_TRUE(objects->get("a")) << "the store is not known to be away";
}

TEST_F(S3ObjectsTest, AllAttemptsTogetherHaveALimit) {
  S3Options options = options_for(server_);
  options.call_time = base::Milliseconds(0);
  EXPECT_EQ(create(options)->get("a").error().code, ErrorCode::io);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(S3ObjectsTest, OptionsAreChecked) {
  const auto fault = [&](const std::function<void(S3Options&)>& change) {
    S3Options options = options_for(server_);
    change(options);
    const auto created = S3Objects::create(options, clock_, random_, nullptr);
    return created ? "" : created.error().message;
  };
  EXPECT_EQ(fault([](S3Options&) {}), "");
  for (const char* bucket : {"", "ab", "Upper", "a/b", "..", "a..b", "a b", "-ab", "ab-", "ab.", ".ab", "a_b"})
    EXPECT_THAT(fault([&](S3Options& options) { options.bucket = bucket; }), HasSubstr("bucket must")) << bucket;
  EXPECT_THAT(fault([](S3Options& options) { options.region.clear(); }), HasSubstr("region must"));
  EXPECT_THAT(fault([](S3Options& options) { options.keys.secret.clear(); }), HasSubstr("secret must"));
  EXPECT_THAT(fault([](S3Options& options) { options.endpoint.target = "/?x"; }), HasSubstr("endpoint must"));
}

TEST(S3TlsTest, CertificatesAreChecked) {
  const base::TemporaryDirectory directory;
  net::TestAuthority authority(directory.path());
  const net::TlsFiles files = authority.issue("DNS:localhost");
  const S3Server server({"--certificate", files.certificate_chain, "--key", files.private_key});
  base::SystemClock clock;
  base::SystemRandom random;
  S3Options options = options_for(server);
  options.endpoint = server.url(true);
  options.attempts = 1;
  const auto create = [&] { return S3Objects::create(options, clock, random, [](base::Milliseconds) {}).value(); };
  EXPECT_FALSE(create()->put("a", "bytes")) << "nobody knows this authority";
  options.tls.certificate_file = authority.certificate_file();
  EXPECT_TRUE(create()->put("a", "bytes"));
  EXPECT_EQ(create()->get("a").value_or("-"), "bytes");
  options.endpoint.host = "127.0.0.1";
  EXPECT_FALSE(create()->put("a", "bytes")) << "the certificate is for another name";
}

}  // namespace
}  // namespace postino::objects
