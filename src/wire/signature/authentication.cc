#include "wire/signature/authentication.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "signature/signature_time.h"
#include "signature/signature_v4.h"
#include "wire/signature/signature_fields.h"
#include "wire/signature/signing_keys.h"

namespace postino::wire {

namespace {

using Failure = std::optional<AuthenticationFailure>;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds allowed_skew = minutes(15);
constexpr seconds longest_expiry = std::chrono::days(7);
constexpr std::string_view service = "dynamodb";
constexpr std::string_view terminator = signature::signature_terminator;
constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

Failure incomplete(std::string message) {
  return AuthenticationFailure{"IncompleteSignatureException", std::move(message)};
}
Failure invalid(std::string message) { return AuthenticationFailure{"InvalidSignatureException", std::move(message)}; }
Failure unrecognized(std::string message) {
  return AuthenticationFailure{"UnrecognizedClientException", std::move(message)};
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<seconds> parse_expiry(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || seconds(count) > longest_expiry)
    return std::nullopt;
  return seconds(count);
}

Failure check_header_parts(const SignatureFields& fields, std::string_view header) {
  std::string faults;
  const auto require = [&faults](std::string_view part, std::string_view name) {
    if (part.empty()) faults.append("Authorization header requires '").append(name).append("' parameter. ");
  };
  require(fields.credential, "Credential");
  require(fields.signature, "Signature");
  require(fields.signed_headers, "SignedHeaders");
  if (fields.date.empty())
    faults += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  if (faults.empty()) return std::nullopt;
  return incomplete(faults.append("Authorization=").append(header));
}

Failure check_query_parts(const SignatureFields& fields) {
  std::string faults;
  const auto require = [&faults](bool given, std::string_view name) {
    if (!given) faults.append("AWS query-string parameters must include '").append(name).append("'. ");
  };
  require(!fields.algorithm.empty(), "X-Amz-Algorithm");
  require(!fields.credential.empty(), "X-Amz-Credential");
  require(!fields.signature.empty(), "X-Amz-Signature");
  require(!fields.signed_headers.empty(), "X-Amz-SignedHeaders");
  require(!fields.date.empty(), "X-Amz-Date");
  require(fields.expires.empty() || parse_expiry(fields.expires), "X-Amz-Expires");
  if (faults.empty()) return std::nullopt;
  return incomplete(faults.append("Re-examine the query-string parameters."));
}

std::string duration_text(seconds time) {
  if (time % minutes(1) == seconds(0)) return std::to_string(time / minutes(1)) + " min.";
  return std::to_string(time.count()) + " sec.";
}

// Any text of the form of a region: a client may name one that AWS added later.
bool is_region(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return text.size() >= 2 && text.size() <= 63 && text.front() >= 'a' && text.front() <= 'z' && text.back() != '-' &&
         std::ranges::all_of(text, allowed);
}

// What stands for the body in the signed text. A body may be left out of the signature where TLS protects it.
std::string payload_hash(const http::Request& request) {
  if (request.secure && request.header("x-amz-content-sha256") == unsigned_payload)
    return std::string(unsigned_payload);
  return base::to_hex(base::sha256(request.body));
}

bool declares_other_payload(const http::Request& request, std::string_view hash) {
  return request.has_header("x-amz-content-sha256") &&
         !base::equal_ignoring_case(request.header("x-amz-content-sha256"), hash);
}

Failure refused_to(const AccessKey& key, Failure failure) {
  failure->key = key.id;
  return failure;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

// What has been understood of a request so far.
struct SignedCall {
  SignatureFields fields;
  HeaderNames signed_headers{fields.signed_headers};
  signature::Second signed_at;
  std::string date;  // the same as 20130609T100015Z
  Credential credential;
};

Authenticator::Authenticator(std::vector<AccessKey> keys, std::shared_ptr<const base::Clock> clock, bool keys_only,
                             OpenToken open_token)
    : keys_(std::move(keys)),
      strict_(keys_only || !keys_.empty()),
      clock_(std::move(clock)),
      signing_keys_(std::make_unique<SigningKeys>()),
      open_token_(std::move(open_token)) {
  std::ranges::stable_sort(keys_, {}, &AccessKey::id);  // of those with the same id, the first one counts
}

Authenticator::~Authenticator() = default;
Authenticator::Authenticator(Authenticator&&) noexcept = default;

std::optional<AuthenticationFailure> Authenticator::check(const http::Request& request, Body body,
                                                          Signer* signer) const {
  const std::string_view header = request.header("authorization");
  QueryParameters query = signature::parse_query(request.query());
  const bool in_query = has_query_signature(query);
  if (!header.empty() && in_query)
    return invalid("Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  if (!in_query && !header.starts_with("AWS4-"))
    return AuthenticationFailure{"MissingAuthenticationTokenException", "Request is missing Authentication Token"};

  SignedCall call{in_query ? fields_from_query(std::move(query)) : fields_from_header(request, std::move(query))};
  const SignatureFields& fields = call.fields;
  if (auto failure = in_query ? check_query_parts(fields) : check_header_parts(fields, header)) return failure;
  const std::optional<signature::Second> signed_at = signature::parse_signature_time(fields.date);
  if (!signed_at)
    return incomplete("Date must be in ISO-8601 'basic format'. Got " + in_quotes(fields.date) +
                      ". See http://en.wikipedia.org/wiki/ISO_8601");
  call.signed_at = *signed_at;
  if (auto failure = check_time(call)) return failure;
  if (!call.signed_headers.contains("host"))
    return invalid("'Host' must be a 'SignedHeader' in the AWS Authorization.");
  if (fields.algorithm != signature::signature_algorithm)
    return incomplete("Unsupported AWS 'algorithm': " + in_quotes(fields.algorithm) +
                      " (only AWS4-HMAC-SHA256 for now). ");
  const std::optional<Credential> credential = signature::parse_credential(fields.credential);
  if (!credential)
    return incomplete(
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got " +
        in_quotes(fields.credential));
  call.credential = *credential;
  call.date = signature::format_signature_time(call.signed_at);
  if (auto failure = check_scope(call)) return failure;
  return strict_ ? check_signature(request, call, body, signer) : std::nullopt;
}

std::optional<AuthenticationFailure> Authenticator::check_time(const SignedCall& call) const {
  if (!strict_) return std::nullopt;
  const auto now = std::chrono::floor<seconds>(clock_->now());
  const seconds lifetime = call.fields.expires.empty() ? allowed_skew : *parse_expiry(call.fields.expires);
  const auto text = signature::format_signature_time;
  if (call.signed_at < now - lifetime)
    return invalid("Signature expired: " + text(call.signed_at) + " is now earlier than " + text(now - lifetime) +
                   " (" + text(now) + " - " + duration_text(lifetime) + ")");
  if (call.signed_at > now + allowed_skew)
    return invalid("Signature not yet current: " + text(call.signed_at) + " is still later than " +
                   text(now + allowed_skew) + " (" + text(now) + " + " + duration_text(allowed_skew) + ")");
  return std::nullopt;
}

std::optional<AuthenticationFailure> Authenticator::check_scope(const SignedCall& call) const {
  const Credential& credential = call.credential;
  const std::string_view day = std::string_view(call.date).substr(0, 8);
  std::string faults;
  if (strict_ && !is_region(credential.region))
    faults += "Credential should be scoped to a valid region, not " + in_quotes(credential.region) + ". ";
  if (credential.service != service)
    faults += "Credential should be scoped to correct service: " + in_quotes(service) + ". ";
  if (strict_ && credential.terminator != terminator)
    faults += "Credential should be scoped with a valid terminator: " + in_quotes(terminator) + ", not " +
              in_quotes(credential.terminator) + ". ";
  if (strict_ && credential.date != day)
    faults += "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
              in_quotes(credential.date) + " != " + in_quotes(day) + ", from " + in_quotes(call.date) + ".";
  if (faults.empty()) return std::nullopt;
  return invalid(faults);
}

std::optional<AuthenticationFailure> Authenticator::check_signature(const http::Request& request,
                                                                    const SignedCall& call, Body body,
                                                                    Signer* signer) const {
  std::optional<AccessKey> temporary;
  if (call.fields.session_token) {
    auto found = find_temporary(call);
    if (!found) return std::move(found).error();
    temporary = *std::move(found);
  }
  const AccessKey* const key = temporary ? &*temporary : find(call.credential.key_id);
  if (key == nullptr) return unrecognized("The security token included in the request is invalid.");
  if (body == Body::to_come) return std::nullopt;

  const std::string hash = payload_hash(request);
  const std::string text = signature::string_to_sign(
      call.date, call.credential,
      signature::canonical_request(signed_parts(request, call.fields), call.signed_headers, hash));
  const std::optional<std::string> known = signing_keys_->find(call.credential);
  const std::string signing_key = known ? *known : signature::derive_signing_key(key->secret, call.credential);
  if (declares_other_payload(request, hash) ||
      !equal_in_constant_time(signature::sign(signing_key, text), call.fields.signature))
    return refused_to(
        *key, invalid("The request signature we calculated does not match the signature you provided. Check your AWS "
                      "Secret Access Key and signing method. Consult the service documentation for details."));
  if (!known) signing_keys_->insert(call.credential, signing_key);
  if (key->use) key->use->note(clock_->now());
  if (signer != nullptr) *signer = {key->id, key->policies, key->quotas};
  return std::nullopt;
}

// What it was made from says whether it counts, and what it may do at most. It is known by the id of that key, also to
// the audit.
base::Result<AccessKey, AuthenticationFailure> Authenticator::find_temporary(const SignedCall& call) const {
  const auto wrong = [] {
    return base::propagate(
        AuthenticationFailure{"UnrecognizedClientException", "The security token included in the request is invalid"});
  };
  if (!open_token_) return wrong();
  const auto opened = open_token_(*call.fields.session_token);
  if (!opened || opened->id != call.credential.key_id) return wrong();
  if (opened->expires_at <= clock_->now())
    return base::propagate(
        AuthenticationFailure{"ExpiredTokenException", "The security token included in the request is expired"});
  const AccessKey* const origin = find(opened->made_from);
  if (origin == nullptr || !origin->use) return wrong();
  AccessKey key = *origin;
  key.secret = opened->secret;
  if (opened->policy.empty()) return key;
  auto policy = access::parse_policy(opened->policy, access::PolicyKind::identity, "session policy");
  if (!policy) return wrong();
  auto session = std::make_shared<const access::Policy>(*std::move(policy));
  if (key.policies) {
    key.policies = key.policies->with_session(std::move(session));
  } else {
    std::vector<std::shared_ptr<const access::Policy>> everything = {session};
    key.policies = std::make_shared<const access::KeyPolicies>(key.principal, std::move(everything), session);
  }
  return key;
}

const AccessKey* Authenticator::find(std::string_view id) const {
  const auto found =
      std::ranges::lower_bound(keys_, id, {}, [](const AccessKey& key) { return std::string_view(key.id); });
  if (found == keys_.end() || found->id != id) return nullptr;
  return found->expires_at && *found->expires_at <= clock_->now() ? nullptr : &*found;
}

}  // namespace postino::wire
