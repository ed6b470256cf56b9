#include "api_testing.h"

#include <simdjson.h>

#include <future>

#include "base/text.h"
#include "item/json_codec.h"

namespace postino::wire {

namespace {

// The text of a JSON string member; empty when there is none.
std::string member_text(const std::string& body, const std::string& name) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(body);
  simdjson::ondemand::document document;
  std::string_view text;
  if (parser.iterate(padded).get(document) || document[name].get_string().get(text)) return "";
  return std::string(text);
}

}  // namespace

ApiTest::ApiTest() {
  engine::Options options;
  options.directory = directory_.path() / "data";
  auto engine = engine::Engine::open(options);
  CHECK(engine);
  engine_ = *std::move(engine);
  endpoint_ = std::make_unique<Endpoint>(*engine_, EndpointOptions());
}

ApiTest::~ApiTest() {
  endpoint_->stop();
  engine_.reset();
}

net::Response ApiTest::send(const std::string& method, const std::string& target, const Headers& headers,
                            const std::string& body) {
  net::Request request;
  request.method = method;
  request.target = target;
  for (const auto& [name, value] : headers) request.headers.emplace_back(name, value);
  request.body = body;
  std::promise<net::Response> response;
  endpoint_->handle(request, [&](net::Response answer) { response.set_value(std::move(answer)); });
  return response.get_future().get();
}

net::Response ApiTest::call(const std::string& operation, const std::string& body) {
  const bool streams =
      operation.find("Stream") != std::string::npos || operation == "GetRecords" || operation == "GetShardIterator";
  const std::string api = streams ? "DynamoDBStreams_20120810." : "DynamoDB_20120810.";
  return send("POST", "/",
              {{"Host", "127.0.0.1:8000"},
               {"Content-Type", "application/x-amz-json-1.0"},
               {"X-Amz-Target", api + operation},
               {"X-Amz-Date", "20260102T030405Z"},
               {"Authorization",
                "AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/dynamodb/aws4_request, "
                "SignedHeaders=host;x-amz-date, Signature=00"}},
              body);
}

std::string ApiTest::answer(const std::string& operation, const std::string& body) {
  net::Response response = call(operation, body);
  EXPECT_EQ(response.status, 200) << response.body;
  return response.body;
}

std::string ApiTest::refusal(const std::string& operation, const std::string& body) {
  const net::Response response = call(operation, body);
  EXPECT_NE(response.status, 200) << response.body;
  const std::string type = member_text(response.body, "__type");
  std::string message = member_text(response.body, "message");
  if (message.empty()) message = member_text(response.body, "Message");
  return type.substr(type.find('#') + 1) + ": " + message;
}

void ApiTest::create_table(const std::string& name, bool with_range) {
  const std::string range_definition = with_range ? R"(,{"AttributeName":"sk","AttributeType":"S"})" : "";
  const std::string range_key = with_range ? R"(,{"AttributeName":"sk","KeyType":"RANGE"})" : "";
  answer("CreateTable", R"({"TableName":")" + name +
                            R"(","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"})" +
                            range_definition + R"(],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"})" + range_key +
                            R"(],"BillingMode":"PAY_PER_REQUEST"})");
}

std::string header(const net::Response& response, const std::string& name) {
  for (const auto& [each, value] : response.headers)
    if (base::equal_ignoring_case(each, name)) return value;
  return "";
}

}  // namespace postino::wire
