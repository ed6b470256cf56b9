#include "wire/signature/signature_fields.h"

#include <algorithm>

namespace postino::wire {

namespace {

// Cuts off and returns what stands before the first of the separators, or everything.
template <class... Separator>
std::string_view cut(std::string_view& text, Separator... separators) {
  const auto found = std::ranges::find_if(text, [&](char letter) { return ((letter == separators) || ...); });
  const auto end = static_cast<std::size_t>(found - text.begin());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view parameter(const QueryParameters& query, std::string_view name) {
  const auto found = std::ranges::find(query, name, &QueryParameters::value_type::first);
  return found == query.end() ? std::string_view() : found->second;
}

bool has_parameter(const QueryParameters& query, std::string_view name) {
  return std::ranges::find(query, name, &QueryParameters::value_type::first) != query.end();
}

}  // namespace

bool has_query_signature(const QueryParameters& query) { return has_parameter(query, "X-Amz-Algorithm"); }

SignatureFields fields_from_header(const http::Request& request, QueryParameters query) {
  SignatureFields fields;
  fields.query = std::move(query);
  std::string_view rest = request.header("authorization");
  fields.algorithm = cut(rest, ' ');
  while (!rest.empty()) {
    std::string_view value = cut(rest, ',', ' ');
    const std::string_view name = cut(value, '=');
    if (name == "Credential") fields.credential = value;
    if (name == "SignedHeaders") fields.signed_headers = value;
    if (name == "Signature") fields.signature = value;
  }
  fields.date = request.header("x-amz-date");
  if (fields.date.empty()) fields.date = request.header("date");
  if (request.has_header("x-amz-security-token")) fields.session_token = request.header("x-amz-security-token");
  return fields;
}

SignatureFields fields_from_query(QueryParameters query) {
  SignatureFields fields;
  fields.in_query = true;
  fields.query = std::move(query);
  fields.algorithm = parameter(fields.query, "X-Amz-Algorithm");
  fields.credential = parameter(fields.query, "X-Amz-Credential");
  fields.signed_headers = parameter(fields.query, "X-Amz-SignedHeaders");
  fields.signature = parameter(fields.query, "X-Amz-Signature");
  fields.date = parameter(fields.query, "X-Amz-Date");
  fields.expires = parameter(fields.query, "X-Amz-Expires");
  if (has_parameter(fields.query, "X-Amz-Security-Token"))
    fields.session_token = parameter(fields.query, "X-Amz-Security-Token");
  return fields;
}

signature::RequestParts signed_parts(const http::Request& request, const SignatureFields& fields) {
  signature::RequestParts parts{request.method, signature::canonical_path(request.path()), fields.query,
                                request.headers};
  if (fields.in_query)
    std::erase_if(parts.query, [](const auto& parameter) { return parameter.first == "X-Amz-Signature"; });
  return parts;
}

}  // namespace postino::wire
