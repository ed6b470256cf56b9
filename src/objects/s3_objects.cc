#include "objects/s3_objects.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "objects/request_time.h"
#include "objects/s3_xml.h"
#include "signature/signature_time.h"

namespace postino::objects {

namespace {

constexpr std::size_t answer_margin = 1 << 20;  // beyond an object: lists are about as large
// Temporary keys have expired, or were revoked: their source may have others.
bool are_refused_keys(const std::string& code) {
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken" ||
         code == "InvalidAccessKeyId";
}

bool is_busy(int status) { return status >= 500 || status == 429 || status == 408; }

// "403 AccessDenied: Access Denied"
std::string told(const http::ClientResponse& response, const S3Problem& problem) {
  std::string text = "the object store has answered " + std::to_string(response.status);
  if (!problem.code.empty()) text.append(" ").append(problem.code);
  if (!problem.message.empty()) text.append(": ").append(problem.message);
  return text;
}

std::optional<base::TimePoint> date_of(const http::ClientResponse& response) {
  const auto time = signature::parse_signature_time(response.header("date"));
  if (!time) return std::nullopt;
  return std::chrono::time_point_cast<base::Milliseconds>(*time);
}

// Where no object is read, nothing is missing or damaged.
base::Error of_no_object(base::Error error) {
  if (error.code == base::ErrorCode::not_found || error.code == base::ErrorCode::corrupt)
    error.code = base::ErrorCode::io;
  return error;
}

// As the signature has it: every letter but those that are never encoded, and slashes.
std::string encoded_path(std::string_view name) {
  std::string path;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    path.append("/").append(base::encode_percent(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  return path;
}

}  // namespace

base::Result<std::unique_ptr<S3Objects>> S3Objects::create(S3Options options, const base::Clock& clock,
                                                           base::Random& random, Sleep sleep) {
  TRY_VOID(check_bucket_name(options.bucket));
  if (options.region.empty()) return base::invalid("region must not be empty");
  if (options.key_source == nullptr && (options.keys.id.empty() || options.keys.secret.empty()))
    return base::invalid("the access key and its secret must not be empty");
  if (options.endpoint.target.find('?') != std::string::npos) return base::invalid("endpoint must not have a query");
  http::ClientOptions client_options;
  client_options.allow_private_addresses = true;  // the operator has named it
  client_options.tls = options.tls;
  client_options.max_response_bytes = largest_object + answer_margin;
  client_options.shutdown_deadline = options.shutdown_deadline;
  TRY(std::unique_ptr<http::Client> client, http::Client::create(std::move(client_options)));
  return std::unique_ptr<S3Objects>(
      new S3Objects(std::move(options), std::move(client), clock, random, std::move(sleep)));
}

S3Objects::S3Objects(S3Options options, std::unique_ptr<http::Client> client, const base::Clock& clock,
                     base::Random& random, Sleep sleep)
    : options_(std::move(options)),
      client_(std::move(client)),
      clock_(clock),
      random_(random),
      sleep_(std::move(sleep)),
      health_("objects", "the object store", options_.endpoint.authority()),
      gate_(options_.gate, clock) {}

base::TimePoint S3Objects::now_there() const { return clock_.now() + base::Milliseconds(clock_offset_.load()); }

std::string S3Objects::target_of(std::string_view name) const {
  std::string target = options_.endpoint.target;
  while (target.ends_with('/')) target.pop_back();
  target.append("/").append(options_.bucket);
  return name.empty() ? target : target + encoded_path(name);
}

S3Objects::Outcome S3Objects::judge(http::ClientResponse response) {
  if (response.status >= 200 && response.status < 300) return {std::move(response)};
  const S3Problem problem = parse_s3_problem(response.body);
  std::string text = told(response, problem);
  // A bucket that is not there is no object that is not there.
  if (response.status == 404 && problem.code != "NoSuchBucket")
    return {base::fail(base::ErrorCode::not_found, std::move(text))};
  // It is archived, or may not be read. Others may be well.
  if (problem.code == "InvalidObjectState" || problem.code == "AccessDenied")
    return {base::fail(base::ErrorCode::corrupt, std::move(text))};
  if (options_.key_source != nullptr && are_refused_keys(problem.code)) {
    options_.key_source->refused();
    return {base::fail(base::ErrorCode::io, std::move(text)), true};
  }
  if (problem.code == "RequestTimeTooSkewed") {
    const auto there = date_of(response);
    const auto before = now_there();
    if (there) clock_offset_ = (*there - clock_.now()).count();
    const auto change = now_there() - before;
    const bool is_learnt = there && (change > std::chrono::minutes(1) || change < -std::chrono::minutes(1));
    if (is_learnt)
      base::log_warning("objects", "the clock of the object store is another one: requests are dated by it",
                        {{"milliseconds ahead", std::to_string(clock_offset_.load())}});
    return {base::fail(base::ErrorCode::io, std::move(text)), is_learnt};
  }
  return {base::fail(base::ErrorCode::io, std::move(text)), is_busy(response.status) || problem.code == "SlowDown"};
}

S3Objects::Outcome S3Objects::attempt(http::ClientRequest request, net::Deadline deadline) {
  auto keys = options_.key_source != nullptr ? options_.key_source->keys() : options_.keys;
  if (!keys) return {base::fail(base::ErrorCode::io, "there are no access keys: " + keys.error().message), true};
  signature::sign_request(request, *keys, {options_.region, "s3"}, now_there());
  auto response = client_->send(request, deadline);
  if (response) return judge(*std::move(response));
  base::Error error = std::move(response).error();
  const bool is_on_the_way = error.code == base::ErrorCode::io;
  return {base::fail(error.code, "the object store could not be used: " + error.message), is_on_the_way};
}

base::Result<http::ClientResponse> S3Objects::call(const std::string& method, const std::string& target,
                                                   std::string_view body) {
  http::ClientRequest request{method, options_.endpoint, {}, std::string(body)};
  request.url.target = target;
  const net::Deadline full_time = net::deadline_in(options_.call_time);
  const net::Deadline end = std::min(RequestTime::end_of_call(options_.call_time), full_time);
  const bool is_shortened = full_time - end > options_.call_time / 2;  // by earlier calls of the same request
  if (is_shortened && end <= net::deadline_in(base::Milliseconds(0)))
    return base::fail(base::ErrorCode::exhausted, "the request has waited for the object store long enough");
  TRY(CallGate::Pass pass, gate_.enter());
  if (pass.is_probe()) {
    Outcome found = probe();
    if (found.is_worth_repeating) {
      health_.fails(found.response.error().message, std::chrono::steady_clock::now());
      pass.fails(found.response.error().message);
      return std::move(found.response);
    }
    pass.works();
  }
  for (int failures = 1;; ++failures) {
    Outcome outcome = attempt(request, std::min(end, net::deadline_in(options_.call_time * 2 / 3)));
    const bool is_done = outcome.response || outcome.response.error().code == base::ErrorCode::not_found;
    if (is_done) health_.works();
    if (is_done) pass.works();
    if (is_done) return std::move(outcome.response);
    health_.fails(outcome.response.error().message, std::chrono::steady_clock::now());
    const bool may_go_on = options_.shutdown_deadline == nullptr || !options_.shutdown_deadline->is_set();
    const base::Milliseconds delay = options_.backoff.full_jitter(failures, random_);
    if (outcome.is_worth_repeating && failures < options_.attempts && may_go_on && !gate_.is_away() &&
        net::deadline_in(delay) < end) {
      sleep_(delay);
      continue;
    }
    // One that refuses is there. Of one that had less than its time nothing is known.
    if (!outcome.is_worth_repeating)
      pass.works();
    else if (!is_shortened)
      pass.fails(outcome.response.error().message);
    return std::move(outcome.response);
  }
}

S3Objects::Outcome S3Objects::probe() {
  http::ClientRequest request{"GET", options_.endpoint, {}, ""};
  request.url.target = target_of("") + "?list-type=2&max-keys=1";
  return attempt(std::move(request), net::deadline_in(std::min(options_.probe_time, options_.call_time)));
}

base::Result<void> S3Objects::put(const std::string& name, std::string_view bytes) {
  TRY_VOID(check_object_name(name));
  if (bytes.size() > largest_object)
    return base::invalid("an object must have at most " + std::to_string(largest_object) + " bytes");
  auto response = call("PUT", target_of(name), bytes);
  if (response) return {};
  return base::propagate(of_no_object(std::move(response).error()));
}

base::Result<std::string> S3Objects::get(const std::string& name) {
  TRY_VOID(check_object_name(name));
  TRY(http::ClientResponse response, call("GET", target_of(name), ""));
  if (response.status != 200)
    return base::fail(base::ErrorCode::io, "the object store has answered " + std::to_string(response.status));
  if (response.body.size() > largest_object)
    return base::fail(base::ErrorCode::corrupt, name + " is larger than " + std::to_string(largest_object) + " bytes");
  return std::move(response.body);
}

base::Result<void> S3Objects::remove(const std::string& name) {
  TRY_VOID(check_object_name(name));
  auto response = call("DELETE", target_of(name), "");
  if (!response && response.error().code != base::ErrorCode::not_found)
    return base::propagate(of_no_object(std::move(response).error()));
  return {};
}

base::Result<ObjectPage> S3Objects::list(const std::string& prefix, const std::string& after, int limit) {
  std::string target =
      target_of("") + "?encoding-type=url&list-type=2&max-keys=" + std::to_string(std::clamp(limit, 1, most_listed));
  if (!prefix.empty()) target += "&prefix=" + base::encode_percent(prefix);
  if (!after.empty()) target += "&start-after=" + base::encode_percent(after);
  const auto response = call("GET", target, "");
  if (!response) return base::propagate(of_no_object(response.error()));
  TRY(S3Listing listing, parse_s3_listing(response->body));
  return ObjectPage{std::move(listing.objects), listing.is_truncated, date_of(*response).value_or(now_there())};
}

}  // namespace postino::objects
