// What a signed request says about its signature, wherever it says it.
#pragma once

#include <optional>
#include <string_view>

#include "http/message.h"
#include "signature/signature_v4.h"

namespace postino::wire {

using signature::Credential;
using signature::HeaderNames;
using signature::QueryParameters;

// Views into the request and into `query`. A part that is missing is empty.
struct SignatureFields {
  bool in_query = false;  // a presigned URL
  QueryParameters query;  // all of the request
  std::string_view algorithm;
  std::string_view credential;
  std::string_view signed_headers;                // names, separated by semicolons
  std::string_view signature;                     // hexadecimal
  std::string_view date;                          // X-Amz-Date, or the Date header
  std::string_view expires;                       // X-Amz-Expires of a presigned URL
  std::optional<std::string_view> session_token;  // of temporary keys

  SignatureFields() = default;
  SignatureFields(SignatureFields&&) = default;
  SignatureFields& operator=(SignatureFields&&) = delete;
};

bool has_query_signature(const QueryParameters& query);
SignatureFields fields_from_header(const http::Request& request, QueryParameters query);
SignatureFields fields_from_query(QueryParameters query);

// What was signed of the request.
signature::RequestParts signed_parts(const http::Request& request, const SignatureFields& fields);

}  // namespace postino::wire
