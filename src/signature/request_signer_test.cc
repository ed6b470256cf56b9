// The signatures were computed with Debian's python3-botocore 1.29.27, with its clock set to the time of the test:
//
//   class Fixed(datetime.datetime): utcnow = classmethod(lambda cls: datetime.datetime(2026, 1, 2, 3, 4, 5))
//   botocore.auth.datetime.datetime = Fixed
//   request = AWSRequest(method, url, headers=headers, data=body)
//   request.context["payload_signing_enabled"] = True
//   S3SigV4Auth(Credentials(key_id, secret, token), "s3", "eu-west-1").add_auth(request)
//
// For DynamoDB SigV4Auth, with the header X-Amz-Content-SHA256.
#include "signature/request_signer.h"

#include <gtest/gtest.h>

namespace postino::signature {
namespace {

constexpr base::TimePoint signing_time = base::TimePoint(base::Milliseconds(1'767'323'045'678));

struct SignedExample {
  std::string method = "GET";
  std::string url;
  std::string body = {};
  std::string token = {};
  std::string service = "s3";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

std::string authorization_of(const SignedExample& example) {
  http::ClientRequest request{example.method, net::Url::parse(example.url).value(), example.headers, example.body};
  const AccessKeys keys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", example.token};
  sign_request(request, keys, {"eu-west-1", example.service}, signing_time);
  EXPECT_EQ(request.headers.at(example.headers.size()).second, "20260102T030405Z");
  return request.headers.back().second;
}

std::string expected(const std::string& service, const std::string& headers, const std::string& signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/" + service +
         "/aws4_request, SignedHeaders=" + headers + ", Signature=" + signature;
}

TEST(RequestSignerTest, SignsPathsAsTheyAreForS3) {
  EXPECT_EQ(authorization_of({.method = "PUT",
                              .url = "http://127.0.0.1:9000/bucket/large-items/TICKET%231/a%252Fb.json",
                              .body = "bytes"}),
            expected("s3", "host;x-amz-content-sha256;x-amz-date",
                     "4f992be0dddfbbf14fce07dad6ec0cf0f8159e43b07d7a5d628b0d96ed4beccf"));
}

TEST(RequestSignerTest, SignsQueries) {
  EXPECT_EQ(authorization_of({.url = "https://s3.example.com/bucket?encoding-type=url&list-type=2&max-keys=10&"
                                     "prefix=a%2Fb%20c&start-after=a%2F%C3%A9"}),
            expected("s3", "host;x-amz-content-sha256;x-amz-date",
                     "55dcade7a8f59c4288f0ebd3996f68effee619dba37f7cdb665462109acac5f5"));
}

TEST(RequestSignerTest, SignsTheTokenOfTemporaryKeys) {
  EXPECT_EQ(authorization_of({.url = "https://s3.example.com/bucket/a//../b", .token = "to/ken=="}),
            expected("s3", "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
                     "4a13a743b42e5f49b4391a5b8d1a346975e3ec0b7c2be0f6cd16e73e8b5189ab"));
}

TEST(RequestSignerTest, SignsForOtherServices) {
  EXPECT_EQ(authorization_of({.method = "POST",
                              .url = "https://dynamodb.eu-west-1.amazonaws.com/",
                              .body = R"({"TableName":"Emails"})",
                              .service = "dynamodb",
                              .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                                          {"X-Amz-Target", "DynamoDB_20120810.GetItem"}}}),
            expected("dynamodb", "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target",
                     "ca6a7c491b35f6cfbd956f46c0bb0f5779ec409e4885c969adccab92e673004b"));
}

}  // namespace
}  // namespace postino::signature
