#include "wire/signature/signature_fields.h"

#include <algorithm>

#include "base/text.h"

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

QueryParameters parse_query(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    std::string_view value = cut(query, '&');
    if (value.empty()) continue;
    const std::string_view name = cut(value, '=');
    parameters.emplace_back(base::decode_percent(name), base::decode_percent(value));
  }
  return parameters;
}

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
  fields.has_session_token = request.has_header("x-amz-security-token");
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
  fields.has_session_token = has_parameter(fields.query, "X-Amz-Security-Token");
  return fields;
}

std::optional<Credential> parse_credential(std::string_view text) {
  if (std::ranges::count(text, '/') != 4) return std::nullopt;
  Credential credential;
  for (std::string_view* part :
       {&credential.key_id, &credential.date, &credential.region, &credential.service, &credential.terminator})
    *part = cut(text, '/');
  return credential;
}

HeaderNames::HeaderNames(std::string_view list) : text_(base::lower_case(list)) {
  names_.reserve(8);
  std::string_view rest = text_;
  while (!rest.empty()) names_.push_back(cut(rest, ';'));
  std::ranges::sort(names_);
  const auto repeated = std::ranges::unique(names_);
  names_.erase(repeated.begin(), repeated.end());
}

bool HeaderNames::contains(std::string_view name) const { return std::ranges::binary_search(names_, name); }

}  // namespace postino::wire
