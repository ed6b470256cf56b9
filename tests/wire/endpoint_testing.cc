#include "endpoint_testing.h"

#include <simdjson.h>

#include <future>

#include "base/text.h"
#include "item/json_codec.h"
#include "wire/protocol/operation.h"

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

Headers call_headers(const std::string& operation) {
  const std::string streams = "DynamoDBStreams_20120810.";
  const std::string api = find_operation(streams + operation) != nullptr ? streams : "DynamoDB_20120810.";
  return {{"Host", "127.0.0.1:8000"},
          {"Content-Type", "application/x-amz-json-1.0"},
          {"X-Amz-Target", api + operation},
          {"X-Amz-Date", "20260102T030405Z"},
          {"Authorization",
           "AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/dynamodb/aws4_request, "
           "SignedHeaders=host;x-amz-date, Signature=00"}};
}

}  // namespace

EndpointTest::EndpointTest() {
  engine::Options options;
  options.directory = directory_.path() / "data";
  auto engine = engine::Engine::open(options);
  CHECK(engine);
  engine_ = *std::move(engine);
  endpoint_ = std::make_unique<Endpoint>(*engine_, EndpointOptions());
}

void EndpointTest::restart(EndpointOptions options) {
  endpoint_->stop();
  endpoint_ = std::make_unique<Endpoint>(*engine_, std::move(options));
}

EndpointTest::~EndpointTest() {
  endpoint_->stop();
  engine_.reset();
}

void EndpointTest::replace_endpoint(const EndpointOptions& options) {
  endpoint_->stop();
  endpoint_ = std::make_unique<Endpoint>(*engine_, options);
}

http::Response EndpointTest::send(const std::string& method, const std::string& target, const Headers& headers,
                                  const std::string& body) {
  http::Request request;
  request.method = method;
  request.target = target;
  for (const auto& [name, value] : headers) request.headers.emplace_back(name, value);
  request.body = body;
  request.peer = "192.0.2.7";
  std::promise<http::Response> response;
  endpoint_->handle(request, [&](http::Response answer) { response.set_value(std::move(answer)); });
  return response.get_future().get();
}

http::Response EndpointTest::call(const std::string& operation, const std::string& body) {
  return send("POST", "/", call_headers(operation), body);
}

void EndpointTest::call_without_waiting(const std::string& operation, std::string body, http::Responder respond) {
  struct Kept {
    Headers headers;
    std::string body;
    http::Request request;
  };
  const auto kept = std::make_shared<Kept>(Kept{call_headers(operation), std::move(body), {}});
  kept->request.method = "POST";
  kept->request.target = "/";
  for (const auto& [name, value] : kept->headers) kept->request.headers.emplace_back(name, value);
  kept->request.body = kept->body;
  endpoint_->handle(kept->request,
                    [kept, respond = std::move(respond)](http::Response response) { respond(std::move(response)); });
}

std::string EndpointTest::answer(const std::string& operation, const std::string& body) {
  http::Response response = call(operation, body);
  EXPECT_EQ(response.status, 200) << response.body;
  return response.body;
}

std::string EndpointTest::refusal(const std::string& operation, const std::string& body) {
  const http::Response response = call(operation, body);
  EXPECT_NE(response.status, 200) << response.body;
  const std::string type = member_text(response.body, "__type");
  std::string message = member_text(response.body, "message");
  if (message.empty()) message = member_text(response.body, "Message");
  return type.substr(type.find('#') + 1) + ": " + message;
}

void EndpointTest::create_table(const std::string& name, bool with_range) {
  const std::string range_definition = with_range ? R"(,{"AttributeName":"sk","AttributeType":"S"})" : "";
  const std::string range_key = with_range ? R"(,{"AttributeName":"sk","KeyType":"RANGE"})" : "";
  answer("CreateTable", R"({"TableName":")" + name +
                            R"(","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"})" +
                            range_definition + R"(],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"})" + range_key +
                            R"(],"BillingMode":"PAY_PER_REQUEST"})");
}

std::string header(const http::Response& response, const std::string& name) {
  for (const auto& [each, value] : response.headers)
    if (base::equal_ignoring_case(each, name)) return value;
  return "";
}

}  // namespace postino::wire
