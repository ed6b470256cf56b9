#include "signature/request_signer.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "signature/signature_time.h"
#include "signature/signature_v4.h"

namespace postino::signature {

namespace {

constexpr std::string_view s3_service = "s3";

// "host;x-amz-date"
std::string names_of(const http::ClientRequest& request) {
  std::string names = "host";
  for (const auto& [name, value] : request.headers) names.append(";").append(name);
  return names;
}

std::string joined_names(const HeaderNames& names) {
  std::string text;
  for (const std::string_view name : names.names()) text.append(text.empty() ? "" : ";").append(name);
  return text;
}

RequestParts parts_of(const http::ClientRequest& request, std::string_view host, const SigningScope& scope) {
  const std::string_view target = request.url.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  RequestParts parts;
  parts.method = request.method;
  parts.path = scope.service == s3_service ? std::string(path) : canonical_path(path);
  parts.query = parse_query(target.substr(std::min(mark + 1, target.size())));
  parts.headers.emplace_back("host", host);
  for (const auto& [name, value] : request.headers) parts.headers.emplace_back(name, value);
  return parts;
}

}  // namespace

void sign_request(http::ClientRequest& request, const AccessKeys& keys, const SigningScope& scope,
                  base::TimePoint now) {
  const std::string date = format_signature_time(std::chrono::floor<std::chrono::seconds>(now));
  const std::string payload_hash = base::to_hex(base::sha256(request.body));
  request.headers.emplace_back("X-Amz-Date", date);
  request.headers.emplace_back("X-Amz-Content-Sha256", payload_hash);
  if (!keys.session_token.empty()) request.headers.emplace_back("X-Amz-Security-Token", keys.session_token);

  const Credential credential{keys.id, std::string_view(date).substr(0, 8), scope.region, scope.service,
                              signature_terminator};
  const HeaderNames names(names_of(request));
  const std::string host = request.url.authority();
  const std::string canonical = canonical_request(parts_of(request, host, scope), names, payload_hash);
  const std::string signature =
      sign(derive_signing_key(keys.secret, credential), string_to_sign(date, credential, canonical));
  std::string authorization(signature_algorithm);
  authorization.append(" Credential=").append(credential.key_id).append("/").append(credential.date);
  authorization.append("/").append(credential.region).append("/").append(credential.service).append("/");
  authorization.append(credential.terminator).append(", SignedHeaders=").append(joined_names(names));
  authorization.append(", Signature=").append(signature);
  request.headers.emplace_back("Authorization", std::move(authorization));
}

}  // namespace postino::signature
