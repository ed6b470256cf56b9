#include "wire/endpoint.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "json/document.h"
#include "store/caller_patience.h"
#include "wire/audited_calls.h"
#include "wire/compression.h"
#include "wire/protocol/operation.h"
#include "wire/request_id.h"

namespace postino::wire {

namespace {

constexpr std::string_view json_type = "application/x-amz-json-1.0";
constexpr std::string_view plain_json_type = "application/json";
constexpr std::size_t max_body_bytes = 16 << 20;
constexpr std::string_view exposed_headers = "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date";
constexpr int forbidden = 403;
constexpr int not_found = 404;
constexpr std::size_t request_id_position = 1;  // among the headers of an API response

// The type that the request has and the response echoes; empty when it is none that the API speaks.
std::string_view content_type_of(const http::Request& request) {
  const std::string_view type = request.media_type();
  if (base::equal_ignoring_case(type, json_type)) return json_type;
  if (base::equal_ignoring_case(type, plain_json_type)) return plain_json_type;
  return {};
}

// What the answer has where no type of the API was asked for.
std::string_view answered_type(const http::Request& request) {
  const std::string_view type = content_type_of(request);
  return type.empty() ? json_type : type;
}

bool is_compressed(const http::Request& request) {
  return request.has_header("content-encoding") &&
         !base::equal_ignoring_case(request.header("content-encoding"), "identity");
}

bool takes_long_to_read(const http::Request& request) {
  return request.body.size() > short_body_bytes || is_compressed(request);  // which may become large
}

// A large answer, as the client accepts it.
void compress_body(const http::Request& request, http::Response& response) {
  constexpr std::size_t least_compressed = 4 << 10;
  if (response.body.size() < least_compressed) return;
  const auto coding = accepted_coding(request.header("accept-encoding"));
  if (!coding) return;
  response.body = compress(response.body, *coding);
  response.headers.emplace_back("Content-Encoding", coding_name(*coding));
}

void add_request_id(http::Response& response) { response.headers.emplace_back("x-amzn-RequestId", make_request_id()); }

void add_checksum(http::Response& response) {
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(response.body.data()), response.body.size());
  response.headers.emplace_back("x-amz-crc32", std::to_string(checksum));
}

http::Response too_large() {
  http::Response response;
  response.status = 413;
  add_request_id(response);
  return response;
}

}  // namespace

Endpoint::Endpoint(store::Store& store, EndpointOptions options)
    : options_(std::move(options)),
      statistics_(operation_count()),
      authenticator_(std::make_shared<const Authenticator>(options_.access_keys, options_.clock, options_.keys_only,
                                                           options_.open_token)),
      owner_(std::make_shared<const access::KeyPolicies>(access::Principal{options_.account, "root", options_.account},
                                                         std::vector<std::shared_ptr<const access::Policy>>())),
      partiql_(store),
      faults_(options_.faults),
      long_calls_(options_.long_call_threads, options_.max_waiting_long_calls),
      services_(std::make_unique<const Services>(Services{&store, &partiql_, &control_, options_.region, &address_,
                                                          &long_calls_, options_.exchange, options_.answers.get()})),
      long_services_(std::make_unique<const Services>(Services{&store, &partiql_, &control_, options_.region, &address_,
                                                               nullptr, options_.exchange, options_.answers.get()})) {}

Endpoint::~Endpoint() = default;

void Endpoint::set_access_keys(std::vector<AccessKey> keys, bool keys_only) {
  authenticator_.set(
      std::make_shared<const Authenticator>(std::move(keys), options_.clock, keys_only, options_.open_token));
}

void Endpoint::stop() {
  control_.stop();
  long_calls_.stop();
}

void Endpoint::complete(const http::Request& request, http::Response& response) const {
  add_request_id(response);
  compress_body(request, response);
  add_checksum(response);
  options_.origin_policy.add_origin(request, response, exposed_headers);
}

http::Response Endpoint::api_response(const http::Request& request, Reply reply, std::string_view content_type) const {
  http::Response response;
  response.status = reply.status;
  response.content_type = content_type;
  response.body = std::move(reply.body);
  response.memory = std::move(reply.memory);
  response.headers.reserve(4);
  response.headers.emplace_back("Server", "Server");
  complete(request, response);
  return response;
}

http::Response Endpoint::not_an_api_call(const http::Request& request) const {
  http::Response response;
  response.status = not_found;
  response.body = "<UnknownOperationException/>\n";
  complete(request, response);
  return response;
}

http::Response Endpoint::preflight(const http::Request& request) const {
  http::Response response = options_.origin_policy.answer_preflight(request);
  add_request_id(response);
  return response;
}

http::Response Endpoint::health(const http::Request& request) const {
  http::Response response;
  response.body = "healthy: dynamodb." + options_.region + ".amazonaws.com ";
  complete(request, response);
  return response;
}

void Endpoint::handle(const http::Request& request, http::Responder respond) {
  if (request.method == "POST" && (options_.all_calls_are_long || takes_long_to_read(request)))
    return handle_long_call(request, respond);
  if (request.method == "POST") return handle_call(*services_, request, std::move(respond));
  if (request.method == "GET" && request.path() == "/") return respond(health(request));
  if (http::OriginPolicy::is_preflight(request)) return respond(preflight(request));
  respond(not_an_api_call(request));
}

void Endpoint::handle_long_call(const http::Request& request, const http::Responder& respond) {
  const bool is_taken = long_calls_.try_submit([this, &request, respond] {
    const store::CallerPatience patience;
    handle_call(*long_services_, request, respond);
  });
  if (is_taken) return;
  Reply reply = too_many_long_calls();
  statistics_.count_refused(reply.error);
  respond(api_response(request, std::move(reply), answered_type(request)));
}

// For reading a body and what comes of it, until it is answered. nullptr: there is none left. One call at a time finds
// memory whatever it takes.
std::shared_ptr<base::MemoryBudget::Share> Endpoint::memory_for(std::string_view body) const {
  constexpr std::size_t bytes_for_a_value = 80;
  auto share = std::make_shared<base::MemoryBudget::Share>();
  if (!options_.reading || body.size() <= short_body_bytes) return share;
  const std::size_t needed = 2 * body.size() + bytes_for_a_value * json::count_values(body);
  *share = options_.reading->take(std::min(needed, options_.reading->limit()));
  return *share ? share : nullptr;
}

bool Endpoint::admits(const http::Request& request) const {
  const auto authenticator = authenticator_.get();
  if (request.method != "POST" || content_type_of(request).empty()) return false;
  if (authenticator->is_open() && options_.origin_policy.check(request)) return false;
  return find_operation(request.header("x-amz-target")) != nullptr && !authenticator->check(request);
}

std::optional<http::Response> Endpoint::refuse_foreign(const http::Request& request,
                                                       const Authenticator& authenticator) {
  const auto refused = authenticator.is_open() ? options_.origin_policy.check(request) : std::nullopt;
  if (!refused) return std::nullopt;
  Reply reply = authentication_failure("AccessDeniedException", refused->message);
  reply.status = forbidden;
  statistics_.count_refused(reply.error);
  return api_response(request, std::move(reply), answered_type(request));
}

std::optional<http::Response> Endpoint::refuse_early(const http::Request& request) {
  const bool has_small_body = !request.announces_large_body();
  if (request.method != "POST")
    return has_small_body ? std::nullopt : std::optional(not_an_api_call(request));  // no other call has a body
  const auto authenticator = authenticator_.get();
  if (auto refusal = refuse_foreign(request, *authenticator)) return refusal;
  if (has_small_body) return std::nullopt;
  const auto denied = authenticator->check_headers(request);
  if (!denied) return std::nullopt;
  Reply reply = authentication_failure(denied->type, denied->message);
  statistics_.count_refused(reply.error);
  return api_response(request, std::move(reply), answered_type(request));
}

// Callers whom the origin policy keeps out learn nothing else. The order of the other checks is DynamoDB's: is it JSON,
// is there such an operation, is it signed, is there a body.
void Endpoint::handle_call(const Services& services, const http::Request& request, http::Responder respond) {
  const std::string_view type = answered_type(request);
  const auto authenticator = authenticator_.get();
  if (auto refusal = refuse_foreign(request, *authenticator)) return respond(*std::move(refusal));
  if (content_type_of(request).empty() && !request.body.empty()) return respond(not_an_api_call(request));
  const auto answer = [&](Reply reply) {
    statistics_.count_refused(reply.error);
    respond(api_response(request, std::move(reply), type));
  };

  std::shared_ptr<const std::string> unpacked;
  std::string_view body = request.body;
  if (is_compressed(request)) {
    // What strangers sent is not unpacked.
    if (const auto denied = authenticator->check_headers(request))
      return answer(authentication_failure(denied->type, denied->message));
    const auto coding = find_coding(request.header("content-encoding"));
    base::Result<std::string> text = base::fail(base::ErrorCode::malformed, "a coding that is not known");
    if (coding) text = decompress(body, *coding, max_body_bytes);
    if (!text && text.error().code == base::ErrorCode::exhausted) return respond(too_large());
    if (!text) return answer(failure({store::ErrorType::internal_server_error, "Internal server error"}));
    unpacked = std::make_shared<const std::string>(*std::move(text));
    body = *unpacked;
  }

  const Operation* operation = find_operation(request.header("x-amz-target"));
  Signer signer;
  const auto denied = operation == nullptr ? std::nullopt : authenticator->check(request, &signer);
  if (operation == nullptr || denied) {
    if (!body.empty() && !is_json(body)) return answer(serialization_failure(""));
    if (operation == nullptr) return answer(unknown_operation());
    tell_refusal(request, *operation, *denied);
    return answer(authentication_failure(denied->type, denied->message));
  }
  if (!signer.quotas.empty() && access::take_request(signer.quotas, options_.clock->monotonic()))
    return answer(failure({store::ErrorType::throttling, "Rate exceeded"}));
  if (body.empty()) return answer(serialization_failure(""));

  const auto reading = memory_for(body);
  if (!reading) return answer(too_many_long_calls());

  const auto begin = std::chrono::steady_clock::now();
  const std::optional<AccessCheck> access = access_of(request, signer.policies, *services.store);
  Finish finish = [this, &request, operation, type, begin, reading, signer,
                   respond = std::move(respond)](Reply reply) mutable {
    *reading = {};  // before the answer, so that a client that has it finds the room free
    const auto time = std::chrono::steady_clock::now() - begin;
    statistics_.count(index_of(*operation), reply, time);
    const std::string error = reply.error;
    if (options_.audit != nullptr && !error.empty()) tell_failure(request, *operation, signer, error);
    http::Response response = api_response(request, std::move(reply), type);
    log(*operation, error, time, response);
    respond(std::move(response));
  };
  if (options_.audit == nullptr || !is_audited(*operation))
    return perform(services, *operation, access ? &*access : nullptr, body, std::move(finish));
  // Before it is done: whatever happens then, it is known who asked for it.
  options_.audit->record(audit_event(*operation, signer, options_.origin_policy.address_of(request), body),
                         [this, &services, operation, access, body, unpacked,
                          finish = std::move(finish)](const base::Result<void>& recorded) {
                           if (!recorded) return finish(audit_not_written());
                           perform(services, *operation, access ? &*access : nullptr, body, finish);
                         });
}

// Of what the audit tells, that it was not done; and whatever was refused.
void Endpoint::tell_failure(const http::Request& request, const Operation& operation, const Signer& signer,
                            const std::string& error) const {
  const bool is_refused = error == store::error_name(store::ErrorType::access_denied);
  if (!is_refused && !is_audited(operation)) return;
  access::AuditEvent event = audit_event(operation, signer, options_.origin_policy.address_of(request), request.body);
  event.result = is_refused ? access::AuditEvent::refused : access::AuditEvent::failed;
  event.detail = error;
  options_.audit->note(std::move(event));
}

// Who asked for what, and what came of it; nothing of what was stored.
void Endpoint::log(const Operation& operation, const std::string& error, std::chrono::steady_clock::duration time,
                   const http::Response& response) const {
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

// Only an id that was configured is told: others may be secrets that were mistaken for one.
void Endpoint::tell_refusal(const http::Request& request, const Operation& operation,
                            const AuthenticationFailure& denied) const {
  if (options_.audit != nullptr)
    options_.audit->note({.actor = denied.key,
                          .kind = denied.key.empty() ? access::AuditEvent::unknown : access::AuditEvent::access_key,
                          .from = options_.origin_policy.address_of(request),
                          .action = std::string("dynamodb:").append(operation.name),
                          .result = access::AuditEvent::refused,
                          .detail = denied.type});
  if (!options_.log_requests) return;
  base::log_info("dynamodb", "refused",
                 {{"operation", std::string(operation.name)}, {"error", denied.type}, {"key", denied.key}});
}

std::optional<AccessCheck> Endpoint::access_of(const http::Request& request, KeyPoliciesPointer policies,
                                               store::Store& store) const {
  const bool is_owner = !policies;
  if (is_owner) {
    store::ResourceSettings* const settings = store.resource_settings();
    if (settings == nullptr || !settings->has_policies()) return std::nullopt;
    policies = owner_;
  }
  Caller caller{std::move(policies), is_owner, &request, options_.origin_policy.address_of(request),
                options_.clock->now()};
  return AccessCheck(std::move(caller), {options_.region, options_.account}, store, resource_policies_);
}

void Endpoint::perform(const Services& services, const Operation& operation, const AccessCheck* check,
                       std::string_view body, Finish finish) {
  if (!faults_.active()) return operation.perform(services, check, body, std::move(finish));
  if (auto fault = faults_.choose(operation))
    return faults_.after_latency([fault = *std::move(fault), finish] { finish(fault); });
  // The latency comes after the work, so that the body need not be kept.
  operation.perform(services, check, body, [this, finish = std::move(finish)](Reply reply) {
    faults_.after_latency([finish, reply = std::move(reply)] { finish(reply); });
  });
}

}  // namespace postino::wire
