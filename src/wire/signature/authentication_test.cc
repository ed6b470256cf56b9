// The signatures were computed with Debian's python3-botocore 1.29.27, with its clock set to the time of the test:
//
//   class Fixed(datetime.datetime): utcnow = classmethod(lambda cls: datetime.datetime(2026, 1, 2, 3, 4, 5))
//   botocore.auth.datetime.datetime = Fixed
//   request = AWSRequest("POST", url, headers=headers, data=body)
//   SigV4Auth(Credentials(key_id, secret), "dynamodb", "eu-west-1").add_auth(request)
//   print(request.headers["Authorization"])
//
// For presigned URLs SigV4QueryAuth, with `payload` overridden to return the SHA-256 of the body in hexadecimal.
#include "wire/signature/authentication.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "wire/signature/signing_keys.h"

namespace postino::wire {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Optional;

const std::string secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const std::string body = R"({"TableName":"Emails","Key":{"Id":{"S":"1"}}})";
const std::string mismatch =
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details.";
// Friday, 2 January 2026, 03:04:05 UTC, and a bit.
constexpr base::TimePoint signing_time = base::TimePoint(base::Milliseconds(1'767'323'045'678));

struct TestRequest {
  std::string method = "POST";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool secure = false;

  http::Request view() const {
    http::Request request;
    request.method = method;
    request.target = target;
    for (const auto& [name, value] : headers) request.headers.emplace_back(name, value);
    request.body = body;
    request.secure = secure;
    return request;
  }
  std::string& header(std::string_view name) {
    for (auto& [known, value] : headers)
      if (known == name) return value;
    return headers.emplace_back(name, "").second;
  }
  TestRequest without(std::string_view name) const {
    TestRequest changed = *this;
    std::erase_if(changed.headers, [&](const auto& header) { return header.first == name; });
    return changed;
  }
  TestRequest with(std::string_view name, std::string value) const {
    TestRequest changed = *this;
    changed.header(name) = std::move(value);
    return changed;
  }
  TestRequest with_replaced(std::string_view name, std::string_view part, std::string_view replacement) const {
    TestRequest changed = *this;
    std::string& value = changed.header(name);
    value.replace(value.find(part), part.size(), replacement);
    return changed;
  }
};

TestRequest signed_request() {
  TestRequest request;
  request.headers = {{"Host", "dynamodb.eu-west-1.amazonaws.com"},
                     {"Content-Type", "application/x-amz-json-1.0"},
                     {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
                     {"X-Amz-Date", "20260102T030405Z"},
                     {"Authorization",
                      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
                      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
                      "Signature=015aca67f1b8628889de6ddac3ec829635dca7279d6929eb713e5f9d7c7c3e17"}};
  request.body = body;
  return request;
}

TestRequest presigned_request(const std::string& expires, const std::string& signature) {
  TestRequest request;
  request.target =
      "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Feu-west-1%2Fdynamodb%2F"
      "aws4_request&X-Amz-Date=20260102T030405Z&X-Amz-Expires=" +
      expires + "&X-Amz-SignedHeaders=host%3Bx-amz-target&X-Amz-Signature=" + signature;
  request.headers = {{"Host", "dynamodb.eu-west-1.amazonaws.com"}, {"X-Amz-Target", "DynamoDB_20120810.GetItem"}};
  request.body = body;
  return request;
}

TestRequest presigned_for_an_hour() {
  return presigned_request("3600", "b9d5991f6cb2621a6cc4d95cdbdf6039d9ad5df93b8d6289715ef8fb37c76cb6");
}

class AuthenticationTest : public ::testing::Test {
 protected:
  std::optional<AuthenticationFailure> check(const TestRequest& request) const {
    return authenticator.check(request.view());
  }
  std::optional<AuthenticationFailure> check_locally(const TestRequest& request) const {
    return local.check(request.view());
  }
  bool passes(const TestRequest& request) const {
    const auto failure = check(request);
    if (failure) ADD_FAILURE() << failure->type << ": " << failure->message;
    return !failure;
  }
  void expect_incomplete(const TestRequest& request, const std::string& message) const {
    EXPECT_THAT(check(request), Optional(AuthenticationFailure{"IncompleteSignatureException", message}));
    EXPECT_THAT(check_locally(request), Optional(AuthenticationFailure{"IncompleteSignatureException", message}));
  }
  // Only of interest where signatures are.
  void expect_invalid(const TestRequest& request, const std::string& message) const {
    EXPECT_THAT(check(request), Optional(AuthenticationFailure{"InvalidSignatureException", message}));
    EXPECT_EQ(check_locally(request), std::nullopt);
  }

  std::shared_ptr<base::ManualClock> clock = std::make_shared<base::ManualClock>(signing_time);
  Authenticator authenticator{{{"AKIDEXAMPLE", secret}, {"BOB", "the/builder+1="}}, clock};
  Authenticator local{{}, clock};
};

TEST_F(AuthenticationTest, AcceptsARightSignature) {
  EXPECT_TRUE(passes(signed_request()));
  EXPECT_TRUE(passes(signed_request())) << "also when the signing key is known already";
  EXPECT_EQ(check_locally(signed_request()), std::nullopt);
}

TEST_F(AuthenticationTest, AcceptsEveryConfiguredKeyInAnyRegion) {
  TestRequest request;
  request.headers = {{"Host", "localhost:8000"},
                     {"Content-Type", "application/x-amz-json-1.0"},
                     {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
                     {"X-Amz-Date", "20260102T030405Z"},
                     {"Authorization",
                      "AWS4-HMAC-SHA256 Credential=BOB/20260102/us-east-1/dynamodb/aws4_request, "
                      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
                      "Signature=b2c28e24757ade9f43e7888ff3b8750fcdb5f46e35c43c6ecb77033f7b03e6bf"}};
  request.body = "{}";
  EXPECT_TRUE(passes(request));
}

TEST_F(AuthenticationTest, IsIndifferentToTheOrderAndCaseOfHeaders) {
  TestRequest request = signed_request();
  std::ranges::reverse(request.headers);
  for (auto& [name, value] : request.headers)
    for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  request.headers.emplace_back("User-Agent", "not signed");
  EXPECT_TRUE(passes(request));
  for (auto& [name, value] : request.headers)
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  EXPECT_TRUE(passes(request));
}

TEST_F(AuthenticationTest, IsIndifferentToSpacesInTheHeader) {
  TestRequest request = signed_request();
  std::string& header = request.header("Authorization");
  for (std::size_t comma = 0; (comma = header.find(", ")) != std::string::npos;) header.erase(comma + 1, 1);
  EXPECT_TRUE(passes(request));
}

TEST_F(AuthenticationTest, SignsQueryAndHeadersInTheirCanonicalForm) {
  TestRequest request = signed_request();
  request.target = "/?b=2&a=%20x&a=1";
  request.header("X-Note") = "many   spaces  here";
  request.header("Authorization") =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target;x-note, "
      "Signature=7ef2d8c8345b66218322a979acb7cee16fea0026dbf6090059111195197348dc";
  EXPECT_TRUE(passes(request));
  request.target = "/?a=1&b=2&a=%20x";
  request.header("X-Note") = "many spaces here";
  EXPECT_TRUE(passes(request)) << "it is the same request";
  request.target = "/?a=1&b=3&a=%20x";
  expect_invalid(request, mismatch);
}

TEST_F(AuthenticationTest, RefusesWhatWasChangedAfterSigning) {
  TestRequest request = signed_request();
  request.body += " ";
  expect_invalid(request, mismatch);
  expect_invalid(signed_request().with("X-Amz-Target", "DynamoDB_20120810.DeleteItem"), mismatch);
  expect_invalid(signed_request().with("X-Amz-Date", "20260102T030406Z"), mismatch);
  request = signed_request();
  request.method = "PUT";
  expect_invalid(request, mismatch);
  request = signed_request();
  request.target = "/x";
  expect_invalid(request, mismatch);
  request = signed_request();
  request.headers.emplace_back("x-amz-target", "DynamoDB_20120810.DeleteItem");
  expect_invalid(request, mismatch);
  expect_invalid(signed_request().with_replaced("Authorization", "Signature=0", "Signature=1"), mismatch);
  expect_invalid(signed_request().with_replaced("Authorization", "3e17", "3e1"), mismatch);
  expect_invalid(signed_request().with_replaced("Authorization", "AKIDEXAMPLE", "BOB"), mismatch);
}

TEST_F(AuthenticationTest, HoldsTheBodyAgainstItsDeclaredHash) {
  TestRequest request = signed_request();
  request.header("X-Amz-Content-SHA256") = "427f878599efc6ad067abaafcc5bbb30c9eb9aaa80896b871c916daa90ae6860";
  EXPECT_TRUE(passes(request)) << "right, but not among the signed headers";
  request.header("Authorization") =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target, "
      "Signature=5781f730bca9c00a64761406aa5d621a6554557f162cb643ccf3936981157b60";
  EXPECT_TRUE(passes(request));
  request.body += " ";
  expect_invalid(request, mismatch);
  const std::string hash_of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  expect_invalid(signed_request().with("X-Amz-Content-SHA256", hash_of_nothing), mismatch);
}

TEST_F(AuthenticationTest, TakesAnUnsignedBodyOnlyOverTls) {
  TestRequest request = signed_request();
  request.header("X-Amz-Content-SHA256") = "UNSIGNED-PAYLOAD";
  request.header("Authorization") =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target, "
      "Signature=2ea5d6c66389aa3026a8f28808e3264bb91b3d760ce1562831b1fafb027e7597";
  expect_invalid(request, mismatch);
  request.secure = true;
  EXPECT_TRUE(passes(request));
  request.body = "anything";
  EXPECT_TRUE(passes(request));
  TestRequest added = signed_request();
  added.header("X-Amz-Content-SHA256") = "UNSIGNED-PAYLOAD";
  added.secure = true;
  expect_invalid(added, mismatch);
}

TEST_F(AuthenticationTest, WantsOneSignature) {
  TestRequest request = signed_request();
  request.target = "/?X-Amz-Algorithm=AWS4-HMAC-SHA256";
  const AuthenticationFailure both{
      "InvalidSignatureException",
      "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."};
  EXPECT_THAT(check(request), Optional(both));
  EXPECT_THAT(check_locally(request), Optional(both));

  const AuthenticationFailure none{"MissingAuthenticationTokenException", "Request is missing Authentication Token"};
  for (const TestRequest& unsigned_request :
       {signed_request().without("Authorization"), signed_request().with("Authorization", ""),
        signed_request().with("Authorization", "Basic AWS4-"), signed_request().with("Authorization", "AWS4")}) {
    EXPECT_THAT(check(unsigned_request), Optional(none));
    EXPECT_THAT(check_locally(unsigned_request), Optional(none));
  }
}

TEST_F(AuthenticationTest, NamesThePartsThatTheHeaderLacks) {
  const auto fault = [](const std::string& name) { return "Authorization header requires '" + name + "' parameter. "; };
  const std::string no_date = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  expect_incomplete(
      signed_request().without("X-Amz-Date").with("Authorization", "AWS4-HMAC-SHA256"),
      fault("Credential") + fault("Signature") + fault("SignedHeaders") + no_date + "Authorization=AWS4-HMAC-SHA256");
  const auto lacking = [](const std::string& part) {
    return signed_request().with_replaced("Authorization", part + "=", part + "s=");
  };
  for (const std::string part : {"Credential", "Signature", "SignedHeaders"})
    expect_incomplete(lacking(part), fault(part) + "Authorization=" + lacking(part).header("Authorization"));
  expect_incomplete(signed_request().with("Authorization", "AWS4-X Credential=, SignedHeaders=host, Signature=a"),
                    fault("Credential") + "Authorization=AWS4-X Credential=, SignedHeaders=host, Signature=a");
  expect_incomplete(signed_request().without("X-Amz-Date"),
                    no_date + "Authorization=" + signed_request().header("Authorization"));
}

TEST_F(AuthenticationTest, NamesThePartsThatTheQueryLacks) {
  TestRequest request;
  request.headers = {{"Host", "localhost"}};
  request.target = "/?X-Amz-Algorithm=";
  const auto fault = [](const std::string& name) {
    return "AWS query-string parameters must include '" + name + "'. ";
  };
  expect_incomplete(request, fault("X-Amz-Algorithm") + fault("X-Amz-Credential") + fault("X-Amz-Signature") +
                                 fault("X-Amz-SignedHeaders") + fault("X-Amz-Date") +
                                 "Re-examine the query-string parameters.");
  request.target = "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-SignedHeaders=d";
  expect_incomplete(request, fault("X-Amz-Date") + "Re-examine the query-string parameters.");
  for (const std::string expires : {"0", "-1", "604801", "1x", "99999999999999999999"})
    expect_incomplete(presigned_request(expires, "00"),
                      fault("X-Amz-Expires") + "Re-examine the query-string parameters.");
}

TEST_F(AuthenticationTest, UnderstandsTheDate) {
  for (const std::string date : {"201", "2026-01-02T03:04:05Z", "20260102T030405", "20260132T030405Z",
                                 "20260102T250405Z", "2026010aT030405Z", "Fri, 02 Foo 2026 03:04:05 GMT", "yesterday"})
    expect_incomplete(
        signed_request().with("X-Amz-Date", date),
        "Date must be in ISO-8601 'basic format'. Got '" + date + "'. See http://en.wikipedia.org/wiki/ISO_8601");
}

TEST_F(AuthenticationTest, TakesTheDateHeaderWhenThereIsNoOther) {
  const std::pair<std::string, std::string> signatures[] = {
      // What botocore makes of a request with a Date header, and the same with other forms of the date by Python's
      // hmac.
      {"Fri, 02 Jan 2026 03:04:05 -0000", "35a24f5172bf6dd315615be82a3b59988b73fd5d1421b50a4e653a30f12cfc7c"},
      {"Fri, 02 Jan 2026 03:04:05 GMT", "77a83bd4296fd2b84b0349b6847453ec84630e74d16661dff97895229132c831"},
      {"20260102T030405Z", "d53543bb1c0f35c684b1db6743d66fe9bb801a659990de474c6f18247945c64f"},
  };
  for (const auto& [date, signature] : signatures) {
    TestRequest request = signed_request().without("X-Amz-Date").with("Date", date);
    request.header("Authorization") =
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
        "SignedHeaders=content-type;date;host;x-amz-target, Signature=" +
        signature;
    EXPECT_TRUE(passes(request)) << date;
  }
}

TEST_F(AuthenticationTest, AllowsAQuarterOfAnHourOfSkew) {
  clock->advance(minutes(15));
  EXPECT_TRUE(passes(signed_request()));
  clock->advance(seconds(1));
  expect_invalid(
      signed_request(),
      "Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z (20260102T031906Z - 15 min.)");
  clock->advance(-minutes(30) - seconds(1));
  EXPECT_TRUE(passes(signed_request()));
  clock->advance(seconds(-1));
  expect_invalid(
      signed_request(),
      "Signature not yet current: 20260102T030405Z is still later than 20260102T030404Z (20260102T024904Z + 15 min.)");
}

TEST_F(AuthenticationTest, WantsTheHostSigned) {
  const TestRequest request = signed_request().with_replaced("Authorization", ";host;", ";");
  const AuthenticationFailure failure{"InvalidSignatureException",
                                      "'Host' must be a 'SignedHeader' in the AWS Authorization."};
  EXPECT_THAT(check(request), Optional(failure));
  EXPECT_THAT(check_locally(request), Optional(failure));
}

TEST_F(AuthenticationTest, KnowsOneAlgorithm) {
  expect_incomplete(signed_request().with_replaced("Authorization", "SHA256", "SHA1"),
                    "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' (only AWS4-HMAC-SHA256 for now). ");
}

TEST_F(AuthenticationTest, WantsFiveElementsInTheCredential) {
  for (const std::string credential : {"a/b/c/d", "a", "a/b/c/d/e/f"})
    expect_incomplete(
        signed_request().with_replaced("Authorization", "AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request",
                                       credential),
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '" +
            credential + "'");
}

TEST_F(AuthenticationTest, WantsTheCredentialScopedToItself) {
  const auto scoped = [](const std::string& credential) {
    return signed_request().with_replaced("Authorization", "AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request",
                                          credential);
  };
  const std::string region = "Credential should be scoped to a valid region, not 'c'. ";
  const std::string service = "Credential should be scoped to correct service: 'dynamodb'. ";
  const std::string terminator = "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. ";
  const std::string date =
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: 'b' != '20260102', "
      "from '20260102T030405Z'.";
  const auto all = check(scoped("a/b/c/d/e"));
  EXPECT_THAT(all, Optional(AuthenticationFailure{"InvalidSignatureException", region + service + terminator + date}));
  expect_invalid(scoped("AKIDEXAMPLE/20260102/c/dynamodb/aws4_request"), region);
  expect_invalid(scoped("AKIDEXAMPLE/20260102/eu-west-1/dynamodb/e"), terminator);
  expect_invalid(scoped("AKIDEXAMPLE/b/eu-west-1/dynamodb/aws4_request"), date);
  const auto other_service = scoped("AKIDEXAMPLE/20260102/eu-west-1/s3/aws4_request");
  EXPECT_THAT(check(other_service), Optional(AuthenticationFailure{"InvalidSignatureException", service}));
  EXPECT_THAT(check_locally(other_service), Optional(AuthenticationFailure{"InvalidSignatureException", service}));
}

TEST_F(AuthenticationTest, KnowsItsKeys) {
  const auto unknown = signed_request().with_replaced("Authorization", "AKIDEXAMPLE", "MALLORY");
  EXPECT_THAT(check(unknown),
              Optional(AuthenticationFailure{"UnrecognizedClientException",
                                             "The security token included in the request is invalid."}));
  EXPECT_EQ(check_locally(unknown), std::nullopt);
}

TEST_F(AuthenticationTest, KnowsNoSessions) {
  TestRequest request = signed_request();
  request.header("X-Amz-Security-Token") = "token";
  request.header("Authorization") =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/dynamodb/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, "
      "Signature=816709f169c581e994bbcc5ccec45a32f62368c91e68c90a857a0e99a3813326";
  const AuthenticationFailure failure{"UnrecognizedClientException",
                                      "The security token included in the request is invalid"};
  EXPECT_THAT(check(request), Optional(failure));
  EXPECT_EQ(check_locally(request), std::nullopt);
  TestRequest presigned = presigned_for_an_hour();
  presigned.target += "&X-Amz-Security-Token=token";
  EXPECT_THAT(check(presigned), Optional(failure));
}

TEST_F(AuthenticationTest, AcceptsAPresignedUrlUntilItExpires) {
  EXPECT_TRUE(passes(presigned_for_an_hour()));
  EXPECT_EQ(check_locally(presigned_for_an_hour()), std::nullopt);
  clock->advance(minutes(60));
  EXPECT_TRUE(passes(presigned_for_an_hour()));
  clock->advance(seconds(1));
  expect_invalid(
      presigned_for_an_hour(),
      "Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z (20260102T040406Z - 60 min.)");
  clock->advance(-minutes(75) - seconds(2));
  expect_invalid(
      presigned_for_an_hour(),
      "Signature not yet current: 20260102T030405Z is still later than 20260102T030404Z (20260102T024904Z + 15 min.)");
}

TEST_F(AuthenticationTest, AcceptsAPresignedUrlForAMinuteAndAHalf) {
  const auto request = presigned_request("90", "9b25e9d107258882c52c94f566563ad4db9ae46bd15059717bb16ae3a461783f");
  clock->advance(seconds(90));
  EXPECT_TRUE(passes(request));
  clock->advance(seconds(1));
  expect_invalid(
      request, "Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z (20260102T030536Z - 90 sec.)");
}

TEST_F(AuthenticationTest, RefusesAPresignedUrlThatWasChanged) {
  TestRequest request = presigned_for_an_hour();
  request.target += "&a=b";
  expect_invalid(request, mismatch);
  request = presigned_for_an_hour();
  request.target.replace(request.target.find("3600"), 4, "3601");
  expect_invalid(request, mismatch);
  request = presigned_for_an_hour();
  request.body += " ";
  expect_invalid(request, mismatch);
  request = presigned_for_an_hour();
  request.target.replace(request.target.find("host%3B"), 7, "");
  EXPECT_THAT(check(request),
              Optional(AuthenticationFailure{"InvalidSignatureException",
                                             "'Host' must be a 'SignedHeader' in the AWS Authorization."}));
}

TEST(SigningKeysTest, HoldsABoundedNumber) {
  SigningKeys keys;
  std::vector<std::string> regions;
  for (std::size_t i = 0; i < 2 * SigningKeys::capacity; ++i) regions.push_back("region-" + std::to_string(i));
  std::size_t known = 0;
  for (const std::string& region : regions) keys.insert({"a", "20260102", region, "s", "t"}, "key of " + region);
  for (const std::string& region : regions) {
    const auto found = keys.find({"a", "20260102", region, "s", "t"});
    if (!found) continue;
    EXPECT_EQ(*found, "key of " + region);
    ++known;
  }
  EXPECT_GT(known, 0U);
  EXPECT_LE(known, SigningKeys::capacity);
  EXPECT_EQ(keys.find({"b", "20260102", regions.back(), "s", "t"}), std::nullopt);
  EXPECT_EQ(keys.find({"a", "20260103", regions.back(), "s", "t"}), std::nullopt);
}

}  // namespace
}  // namespace postino::wire
