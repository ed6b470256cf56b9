#include "wire/endpoint.h"

#include <zlib.h>

#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "wire/gzip.h"
#include "wire/operation.h"
#include "wire/request_id.h"

namespace postino::wire {

namespace {

constexpr std::string_view json_type = "application/x-amz-json-1.0";
constexpr std::string_view plain_json_type = "application/json";
constexpr std::size_t max_body_bytes = 16 << 20;
constexpr int not_found = 404;
constexpr std::size_t request_id_position = 1;  // among the headers of an API response

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The type that the request has and the response echoes; empty when it is none that the API speaks.
std::string_view content_type_of(const net::Request& request) {
  const std::string_view header = request.header("content-type");
  const std::string_view type = trimmed(header.substr(0, header.find(';')));
  if (base::equal_ignoring_case(type, json_type)) return json_type;
  if (base::equal_ignoring_case(type, plain_json_type)) return plain_json_type;
  return {};
}

void add_request_id(net::Response& response) { response.headers.emplace_back("x-amzn-RequestId", make_request_id()); }

void add_checksum(net::Response& response) {
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(response.body.data()), response.body.size());
  response.headers.emplace_back("x-amz-crc32", std::to_string(checksum));
}

void add_origin(net::Response& response, bool has_origin) {
  if (has_origin) response.headers.emplace_back("Access-Control-Allow-Origin", "*");
}

// What every response with a body has.
void complete(net::Response& response, bool has_origin) {
  add_request_id(response);
  add_checksum(response);
  add_origin(response, has_origin);
}

net::Response api_response(Reply reply, std::string_view content_type, bool has_origin) {
  net::Response response;
  response.status = reply.status;
  response.content_type = content_type;
  response.body = std::move(reply.body);
  response.headers.reserve(4);
  response.headers.emplace_back("Server", "Server");
  complete(response, has_origin);
  return response;
}

net::Response not_an_api_call(bool has_origin) {
  net::Response response;
  response.status = not_found;
  response.body = "<UnknownOperationException/>\n";
  complete(response, has_origin);
  return response;
}

net::Response too_large() {
  net::Response response;
  response.status = 413;
  add_request_id(response);
  return response;
}

// What a browser asks before it lets a page of another origin call.
net::Response preflight(const net::Request& request) {
  net::Response response;
  add_request_id(response);
  add_origin(response, request.has_header("origin"));
  if (const auto headers = request.header("access-control-request-headers"); !headers.empty())
    response.headers.emplace_back("Access-Control-Allow-Headers", headers);
  if (const auto method = request.header("access-control-request-method"); !method.empty())
    response.headers.emplace_back("Access-Control-Allow-Methods", method);
  response.headers.emplace_back("Access-Control-Max-Age", "172800");
  return response;
}

net::Response health(const std::string& region, bool has_origin) {
  net::Response response;
  response.body = "healthy: dynamodb." + region + ".amazonaws.com ";
  complete(response, has_origin);
  return response;
}

}  // namespace

Endpoint::Endpoint(store::Store& store, EndpointOptions options)
    : options_(std::move(options)),
      statistics_(operation_count()),
      authenticator_(options_.access_keys, options_.clock),
      partiql_(store),
      faults_(options_.faults),
      services_(std::make_unique<const Services>(Services{&store, &partiql_, &control_, options_.region, &address_})) {}

Endpoint::~Endpoint() = default;

void Endpoint::stop() { control_.stop(); }

void Endpoint::handle(const net::Request& request, net::Responder respond) {
  const bool has_origin = request.has_header("origin");
  if (request.method == "POST") return handle_call(request, std::move(respond));
  if (request.method == "GET") return respond(health(options_.region, has_origin));
  if (request.method == "OPTIONS" && has_origin) return respond(preflight(request));
  respond(not_an_api_call(has_origin));
}

// The order of the checks is DynamoDB's: is it JSON, is there such an operation, is it signed, is there a body.
void Endpoint::handle_call(const net::Request& request, net::Responder respond) {
  const bool has_origin = request.has_header("origin");
  std::string_view type = content_type_of(request);
  if (type.empty() && !request.body.empty()) return respond(not_an_api_call(has_origin));
  if (type.empty()) type = json_type;
  const auto answer = [&](Reply reply) {
    statistics_.count_refused(reply.error);
    respond(api_response(std::move(reply), type, has_origin));
  };

  std::string unpacked;
  std::string_view body = request.body;
  if (base::equal_ignoring_case(request.header("content-encoding"), "gzip")) {
    auto text = gunzip(body, max_body_bytes);
    if (!text && text.error().code == base::ErrorCode::exhausted) return respond(too_large());
    if (!text) return answer(failure({store::ErrorType::internal_server_error, "Internal server error"}));
    unpacked = *std::move(text);
    body = unpacked;
  }

  const Operation* operation = find_operation(request.header("x-amz-target"));
  const auto denied = operation == nullptr ? std::nullopt : authenticator_.check(request);
  if (operation == nullptr || denied) {
    if (!body.empty() && !is_json(body)) return answer(serialization_failure(""));
    if (operation == nullptr) return answer(unknown_operation());
    return answer(authentication_failure(denied->type, denied->message));
  }
  if (body.empty()) return answer(serialization_failure(""));

  const auto begin = std::chrono::steady_clock::now();
  perform(*operation, body,
          [this, operation, type, has_origin, begin, respond = std::move(respond)](Reply reply) mutable {
            const auto time = std::chrono::steady_clock::now() - begin;
            statistics_.count(index_of(*operation), reply, time);
            const std::string error = reply.error;
            net::Response response = api_response(std::move(reply), type, has_origin);
            log(*operation, error, time, response);
            respond(std::move(response));
          });
}

// Who asked for what, and what came of it; nothing of what was stored.
void Endpoint::log(const Operation& operation, const std::string& error, std::chrono::steady_clock::duration time,
                   const net::Response& response) const {
  const bool failed = response.status >= first_server_error;
  if (!failed && !options_.log_requests) return;
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  base::log_event(failed ? base::LogLevel::warning : base::LogLevel::info, "dynamodb", failed ? "failed" : "request",
                  {{"operation", std::string(operation.name)},
                   {"status", std::to_string(response.status)},
                   {"error", error},
                   {"microseconds", std::to_string(microseconds)},
                   {"request_id", response.headers[request_id_position].second}});
}

void Endpoint::perform(const Operation& operation, std::string_view body, Finish finish) {
  if (!faults_.active()) return operation.perform(*services_, body, std::move(finish));
  if (auto fault = faults_.choose(operation))
    return faults_.after_latency([fault = *std::move(fault), finish] { finish(fault); });
  // The latency comes after the work, so that the body need not be kept.
  operation.perform(*services_, body, [this, finish = std::move(finish)](Reply reply) {
    faults_.after_latency([finish, reply = std::move(reply)] { finish(reply); });
  });
}

}  // namespace postino::wire
