// What belongs to the protocol: headers, checksums, the order of checks, JSON types.
#include <zlib.h>

#include "base/text.h"
#include "endpoint_testing.h"
#include "wire/compression.h"

namespace postino::wire {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class ProtocolTest : public EndpointTest {
 protected:
  const Headers signed_call = {{"Host", "127.0.0.1:8000"},
                               {"Content-Type", "application/x-amz-json-1.0"},
                               {"X-Amz-Target", "DynamoDB_20120810.ListTables"},
                               {"X-Amz-Date", "20260102T030405Z"},
                               {"Authorization",
                                "AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/dynamodb/aws4_request, "
                                "SignedHeaders=host;x-amz-date, Signature=00"}};

  Headers with(const std::string& name, const std::string& value) const {
    Headers headers;
    for (const auto& each : signed_call)
      if (!base::equal_ignoring_case(each.first, name)) headers.push_back(each);
    if (!value.empty()) headers.emplace_back(name, value);
    return headers;
  }

  static Headers preflight_of(const std::string& origin) {
    return {{"Origin", origin},
            {"Access-Control-Request-Headers", "authorization,x-amz-target"},
            {"Access-Control-Request-Method", "POST"}};
  }
};

TEST_F(ProtocolTest, EveryAnswerHasIdChecksumAndTheRequestsType) {
  const http::Response response = send("POST", "/", with("Content-Type", "application/json; charset=utf-8"), "{}");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"TableNames":[]})");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(header(response, "x-amzn-RequestId"), MatchesRegex("[0-9A-Z]{52}"));
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(response.body.data()), static_cast<uInt>(response.body.size()));
  EXPECT_EQ(header(response, "x-amz-crc32"), std::to_string(checksum));
}

TEST_F(ProtocolTest, RequestIdsDiffer) {
  EXPECT_NE(header(call("ListTables", "{}"), "x-amzn-RequestId"), header(call("ListTables", "{}"), "x-amzn-RequestId"));
}

TEST_F(ProtocolTest, OtherTrafficIsToldApart) {
  EXPECT_EQ(send("GET", "/", {}, "").body, "healthy: dynamodb.us-east-1.amazonaws.com ");
  EXPECT_EQ(send("GET", "/?a=b", {}, "").status, 200);
  EXPECT_EQ(send("GET", "/favicon.ico", {}, "").status, 404);
  for (const char* method : {"PUT", "DELETE", "HEAD"}) {
    const http::Response response = send(method, "/", signed_call, "{}");
    EXPECT_EQ(response.status, 404) << method;
    EXPECT_EQ(response.body, "<UnknownOperationException/>\n") << method;
  }
  EXPECT_EQ(send("POST", "/", with("Content-Type", "text/plain"), "{}").status, 404);
  EXPECT_EQ(send("POST", "/", with("Content-Type", ""), "{}").status, 404);
}

TEST_F(ProtocolTest, PagesOfOtherOriginsMayNotCall) {
  const http::Response call = send("POST", "/", with("Origin", "http://example.com"), "{}");
  EXPECT_EQ(call.status, 403);
  EXPECT_THAT(call.body, HasSubstr("AccessDeniedException"));
  EXPECT_EQ(header(call, "Access-Control-Allow-Origin"), "");
  const http::Response preflight = send("OPTIONS", "/", preflight_of("http://example.com"), "");
  EXPECT_EQ(preflight.status, 403);
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Origin"), "");
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Headers"), "");
}

TEST_F(ProtocolTest, PagesOfAllowedOriginsMayCall) {
  EndpointOptions options;
  options.origin_policy = http::OriginPolicy({.origins = {"http://example.com"}});
  restart(std::move(options));
  const http::Response call = send("POST", "/", with("Origin", "http://example.com"), "{}");
  EXPECT_EQ(call.status, 200);
  EXPECT_EQ(header(call, "Access-Control-Allow-Origin"), "http://example.com");
  EXPECT_EQ(header(call, "Access-Control-Expose-Headers"),
            "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date");
  const http::Response preflight = send("OPTIONS", "/", preflight_of("http://example.com"), "");
  EXPECT_EQ(preflight.status, 200);
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Origin"), "http://example.com");
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Headers"), "authorization,x-amz-target");
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(header(preflight, "Access-Control-Max-Age"), "172800");
  EXPECT_EQ(send("POST", "/", with("Origin", "http://other.example"), "{}").status, 403);
}

TEST_F(ProtocolTest, RefusalsHaveTheRequestsType) {
  Headers foreign = with("Content-Type", "application/json");
  foreign.emplace_back("Origin", "http://example.com");
  const http::Response refused = send("POST", "/", foreign, "{}");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.content_type, "application/json");
  EXPECT_EQ(send("POST", "/", with("Content-Type", "application/json"), "{").content_type, "application/json");
}

TEST_F(ProtocolTest, OtherHostsAndProxiesMayNotCall) {
  EXPECT_EQ(send("POST", "/", with("Host", "evil.example"), "{}").status, 403);
  EXPECT_EQ(send("POST", "/", with("X-Forwarded-For", "192.0.2.7"), "{}").status, 403);
  EXPECT_EQ(send("POST", "/", with("Host", "localhost:8000"), "{}").status, 200);
}

// Where the REST API asks for keys, this API is not a way around them.
TEST_F(ProtocolTest, WhereThereAreOtherKeysMadeUpOnesAreRefused) {
  EndpointOptions options;
  options.keys_only = true;
  restart(std::move(options));
  EXPECT_THAT(send("POST", "/", with("Authorization", ""), "{}").body, HasSubstr("MissingAuthenticationToken"));
  EXPECT_NE(send("POST", "/", signed_call, "{}").status, 200);
}

TEST_F(ProtocolTest, ChecksComeInDynamosOrder) {
  const std::string serialization = R"({"__type":"com.amazon.coral.service#SerializationException"})";
  const std::string unknown = R"({"__type":"com.amazon.coral.service#UnknownOperationException"})";
  // No JSON comes before an unknown operation, that before a missing signature, that before an empty body.
  EXPECT_EQ(send("POST", "/", with("X-Amz-Target", "DynamoDB_20120810.Nothing"), "{").body, serialization);
  EXPECT_EQ(send("POST", "/", with("X-Amz-Target", "DynamoDB_20120810.Nothing"), "{}").body, unknown);
  EXPECT_EQ(send("POST", "/", with("X-Amz-Target", "Other_20120810.ListTables"), "{}").body, unknown);
  EXPECT_EQ(send("POST", "/", with("X-Amz-Target", ""), "{}").body, unknown);
  EXPECT_EQ(send("POST", "/", with("Authorization", ""), "{").body, serialization);
  EXPECT_THAT(send("POST", "/", with("Authorization", ""), "{}").body, HasSubstr("MissingAuthenticationToken"));
  EXPECT_THAT(send("POST", "/", with("Authorization", ""), "").body, HasSubstr("MissingAuthenticationToken"));
  EXPECT_EQ(send("POST", "/", signed_call, "").body, serialization);
}

TEST_F(ProtocolTest, StreamsAndTablesAreTwoApis) {
  EXPECT_THAT(send("POST", "/", with("X-Amz-Target", "DynamoDBStreams_20120810.ListTables"), "{}").body,
              HasSubstr("UnknownOperationException"));
  EXPECT_THAT(send("POST", "/", with("X-Amz-Target", "DynamoDB_20120810.ListStreams"), "{}").body,
              HasSubstr("UnknownOperationException"));
}

TEST_F(ProtocolTest, BodiesMayBeCompressed) {
  const std::string whole = R"({"Limit":1})";
  const auto status = [&](const std::string& coding, const std::string& body) {
    return send("POST", "/", with("Content-Encoding", coding), body).status;
  };
  const auto gzip = [](std::string_view text) { return compress(text, Coding::gzip); };
  for (const Coding coding : {Coding::gzip, Coding::deflate})
    EXPECT_EQ(
        send("POST", "/", with("Content-Encoding", std::string(coding_name(coding))), compress(whole, coding)).body,
        R"({"TableNames":[]})");
  EXPECT_EQ(status("GZIP", gzip(whole)), 200);
  EXPECT_EQ(status("identity", whole), 200);
  EXPECT_EQ(status("gzip", gzip(whole.substr(0, 4)) + gzip(whole.substr(4))), 200);  // several members
  EXPECT_EQ(status("gzip", "no gzip"), 500);
  EXPECT_EQ(status("gzip", ""), 500);
  EXPECT_EQ(status("gzip", gzip(whole).substr(0, 20)), 500);
  EXPECT_EQ(status("gzip", gzip(whole) + "more"), 500);
  EXPECT_EQ(status("deflate", gzip(whole)), 500);
  // More than 16 MB behind a small body.
  EXPECT_EQ(status("gzip", gzip(std::string(17 << 20, ' '))), 413);
}

TEST_F(ProtocolTest, WhatCannotBeUnpackedDoesNothing) {
  create_table("tbl");
  const std::string put = R"({"TableName":"tbl","Item":{"pk":{"S":"a"}}})";
  Headers headers = with("X-Amz-Target", "DynamoDB_20120810.PutItem");
  headers.emplace_back("Content-Encoding", "br");
  EXPECT_EQ(send("POST", "/", headers, put).status, 500);
  EXPECT_EQ(answer("Scan", R"({"TableName":"tbl","Select":"COUNT"})"), R"({"Count":0,"ScannedCount":0})");
}

TEST_F(ProtocolTest, LargeAnswersAreCompressedIfTheClientAcceptsIt) {
  create_table("tbl");
  const std::string large(5'000, 'x');
  answer("PutItem", R"({"TableName":"tbl","Item":{"pk":{"S":"a"},"x":{"S":")" + large + "\"}}}");
  const auto scan = [&](const std::string& accepted, const std::string& more = "") {
    Headers headers = with("X-Amz-Target", "DynamoDB_20120810.Scan");
    if (!accepted.empty()) headers.emplace_back("Accept-Encoding", accepted);
    headers.emplace_back("Accept-Encoding", "gzip");  // a second line does not count
    if (accepted.empty()) headers.pop_back();
    return send("POST", "/", headers, R"({"TableName":"tbl")" + more + "}");
  };
  const http::Response plain = scan("");
  EXPECT_EQ(header(plain, "Content-Encoding"), "");
  EXPECT_EQ(header(scan("identity"), "Content-Encoding"), "");
  EXPECT_EQ(header(scan("gzip", R"(,"Select":"COUNT")"), "Content-Encoding"), "");
  for (const Coding coding : {Coding::gzip, Coding::deflate}) {
    const http::Response packed = scan(std::string(coding_name(coding)));
    EXPECT_EQ(header(packed, "Content-Encoding"), coding_name(coding));
    EXPECT_LT(packed.body.size(), large.size());
    EXPECT_EQ(*decompress(packed.body, coding, 1 << 20), plain.body);
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(packed.body.data()), static_cast<uInt>(packed.body.size()));
    EXPECT_EQ(header(packed, "x-amz-crc32"), std::to_string(checksum));
  }
}

TEST_F(ProtocolTest, TextThatIsNoJsonHasNoMessage) {
  for (const char* body : {"{", "}", "{]", "{\"Limit\":}", "{} {}", "nul", "{\"a\" 1}", "\xff", "[]", "1"})
    EXPECT_EQ(call("ListTables", body).body, R"({"__type":"com.amazon.coral.service#SerializationException"})") << body;
}

struct WrongType {
  const char* operation;
  const char* body;
  const char* message;
};

TEST_F(ProtocolTest, JsonTypesAreCheckedFirstAndNamed) {
  const WrongType cases[] = {
      {"GetItem", R"({"TableName":1})", "NUMBER_VALUE cannot be converted to String"},
      {"GetItem", R"({"TableName":1.5})", "DECIMAL_VALUE cannot be converted to String"},
      {"GetItem", R"({"TableName":true})", "TRUE_VALUE cannot be converted to String"},
      {"GetItem", R"({"TableName":false})", "FALSE_VALUE cannot be converted to String"},
      {"GetItem", R"({"TableName":{}})", "Start of structure or map found where not expected"},
      {"GetItem", R"({"TableName":[]})", "Unrecognized collection type class java.lang.String"},
      {"Scan", R"({"Limit":"1"})", "STRING_VALUE cannot be converted to Integer"},
      {"Scan", R"({"Limit":true})", "TRUE_VALUE cannot be converted to Integer"},
      {"Scan", R"({"Limit":[]})", "Unrecognized collection type class java.lang.Integer"},
      {"GetItem", R"({"ConsistentRead":"maybe"})", "Unexpected token received from parser"},
      {"GetItem", R"({"ConsistentRead":1})", "NUMBER_VALUE cannot be converted to Boolean"},
      {"GetItem", R"({"Key":"a"})", "Unexpected field type"},
      {"GetItem", R"({"Key":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {"GetItem", R"({"Key":{"a":"b"}})", "Unexpected value type in payload"},
      {"GetItem", R"({"Key":{"a":{"S":1}}})", "NUMBER_VALUE cannot be converted to String"},
      {"GetItem", R"({"Key":{"a":{"B":1}}})", "only base-64-encoded strings are convertible to bytes"},
      {"GetItem", R"({"Key":{"a":{"B":"a"}}})", "Base64 encoded length is expected a multiple of 4 bytes but found: 1"},
      {"GetItem", R"({"AttributesToGet":"a"})", "Unexpected field type"},
      {"GetItem", R"({"AttributesToGet":{}})", "Start of structure or map found where not expected"},
      {"GetItem", R"({"ExpressionAttributeNames":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"},
      {"CreateTable", R"({"ProvisionedThroughput":"a"})", "Unexpected field type"},
      {"CreateTable", R"({"ProvisionedThroughput":[]})",
       "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput"},
      {"CreateTable", R"({"ProvisionedThroughput":{"ReadCapacityUnits":"1"}})",
       "STRING_VALUE cannot be converted to Long"},
      {"CreateTable", R"({"KeySchema":["a"]})", "Unexpected value type in payload"},
      {"Query", R"({"KeyConditions":{"a":"b"}})", "Unexpected value type in payload"},
      {"Query", R"({"KeyConditions":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.Condition>"},
      // A type at the end of a request is found before a rule that its beginning breaks.
      {"PutItem", R"({"TableName":"","Item":{"a":{"N":"x"}},"ReturnValues":1})",
       "NUMBER_VALUE cannot be converted to String"},
  };
  for (const auto& [operation, body, message] : cases)
    EXPECT_EQ(refusal(operation, body), std::string("SerializationException: ") + message) << operation << body;
}

TEST_F(ProtocolTest, SerializationMessagesAreCapitalAndValidationMessagesAreNot) {
  EXPECT_THAT(call("GetItem", R"({"TableName":1})").body,
              HasSubstr(R"({"__type":"com.amazon.coral.service#SerializationException","Message":")"));
  EXPECT_THAT(call("GetItem", "{}").body,
              HasSubstr(R"({"__type":"com.amazon.coral.validate#ValidationException","message":")"));
  EXPECT_THAT(call("DescribeTable", R"({"TableName":"none"})").body,
              HasSubstr(R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":")"));
}

TEST_F(ProtocolTest, NullAndUnknownMembersAreIgnored) {
  EXPECT_EQ(answer("ListTables", R"({"Limit":null,"ExclusiveStartTableName":null,"Whatever":{"a":[1,2]}})"),
            R"({"TableNames":[]})");
}

TEST_F(ProtocolTest, TheEndpointCountsWhatItDoes) {
  call("ListTables", "{}");
  call("GetItem", "{}");
  send("POST", "/", with("X-Amz-Target", "Nothing"), "{}");
  std::string text;
  endpoint().statistics().append_to(text);
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_requests_total{operation=\"ListTables\",result=\"ok\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_requests_total{operation=\"GetItem\",result=\"client_error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_request_seconds_count{operation=\"ListTables\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_errors_total{type=\"UnknownOperationException\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_dynamodb_errors_total{type=\"ValidationException\"} 1\n"));
}

}  // namespace
}  // namespace postino::wire
