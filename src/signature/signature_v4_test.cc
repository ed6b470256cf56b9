// The examples that AWS publishes: in its documentation the request to IAM and both keys, in its test suite the others.
#include "signature/signature_v4.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"

namespace postino::signature {
namespace {

const std::string secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

struct ExampleRequest {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers = {{"Host", "example.amazonaws.com"},
                                                              {"X-Amz-Date", "20150830T123600Z"}};

  RequestParts parts() const {
    const std::size_t mark = std::min(target.find('?'), target.size());
    RequestParts parts;
    parts.method = method;
    parts.path = canonical_path(std::string_view(target).substr(0, mark));
    parts.query = parse_query(std::string_view(target).substr(std::min(mark + 1, target.size())));
    for (const auto& [name, value] : headers) parts.headers.emplace_back(name, value);
    return parts;
  }
};

std::string signature_of(const ExampleRequest& request, const std::string& service, const std::string& signed_headers) {
  const Credential credential{"AKIDEXAMPLE", "20150830", "us-east-1", service, signature_terminator};
  const std::string canonical =
      canonical_request(request.parts(), HeaderNames(signed_headers), base::to_hex(base::sha256("")));
  return sign(derive_signing_key(secret, credential), string_to_sign("20150830T123600Z", credential, canonical));
}

std::string signature_of_target(const std::string& target) {
  return signature_of({.target = target}, "service", "host;x-amz-date");
}

TEST(SignatureExamplesTest, KeysAreDerivedAsDocumented) {
  const auto hex_key = [](std::string_view date) {
    return base::to_hex(derive_signing_key(secret, {"AKIDEXAMPLE", date, "us-east-1", "iam", "aws4_request"}));
  };
  EXPECT_EQ(hex_key("20120215"), "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d");
  EXPECT_EQ(hex_key("20150830"), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}

TEST(SignatureExamplesTest, RequestIsSignedAsDocumented) {
  const ExampleRequest request{.target = "/?Action=ListUsers&Version=2010-05-08",
                               .headers = {{"Host", "iam.amazonaws.com"},
                                           {"X-Amz-Date", "20150830T123600Z"},
                                           {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}};
  EXPECT_EQ(signature_of(request, "iam", "content-type;host;x-amz-date"),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(SignatureExamplesTest, TargetsAreSignedAsInTheTestSuite) {
  const std::string plain = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
  EXPECT_EQ(signature_of_target("/"), plain);
  EXPECT_EQ(signature_of_target("/example/.."), plain);
  EXPECT_EQ(signature_of_target("/?Param2=value2&Param1=value1"),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  EXPECT_EQ(signature_of_target("/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
            "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f");
  EXPECT_EQ(signature_of_target("//example//"), "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84");
  EXPECT_EQ(signature_of_target("/./example"), "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5");
  // These two by botocore: a path that is encoded already is encoded once more.
  EXPECT_EQ(signature_of_target("/example%20space/"),
            "446b817944c553435b35e813c261ff4e161fff982d1bacdef1c87f6785dd1662");
  EXPECT_EQ(signature_of_target("/%E1%88%B4"), "697b34846207a3f72246f99d74ae1ee4fe54f44bb06730c58a0d339eb079596d");
}

TEST(SignatureExamplesTest, HeadersAreSignedAsInTheTestSuite) {
  ExampleRequest request;
  request.headers.emplace_back("My-Header1", "value1");
  request.headers.emplace_back("My-Header2", "\"a   b   c\"");
  EXPECT_EQ(signature_of(request, "service", "host;my-header1;my-header2;x-amz-date"),
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");

  request = {};
  for (const std::string value : {"value2", "value2", "value1"}) request.headers.emplace_back("My-Header1", value);
  EXPECT_EQ(signature_of(request, "service", "host;my-header1;x-amz-date"),
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");

  request = {.method = "POST"};
  EXPECT_EQ(signature_of(request, "service", "host;x-amz-date"),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

}  // namespace
}  // namespace postino::signature
