// What a signed request says about its signature, wherever it says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace postino::wire {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;  // decoded, in the order they were sent

QueryParameters parse_query(std::string_view query);

// Views into the request and into `query`. A part that is missing is empty.
struct SignatureFields {
  bool in_query = false;  // a presigned URL
  QueryParameters query;  // all of the request
  std::string_view algorithm;
  std::string_view credential;
  std::string_view signed_headers;  // names, separated by semicolons
  std::string_view signature;       // hexadecimal
  std::string_view date;            // X-Amz-Date, or the Date header
  std::string_view expires;         // X-Amz-Expires of a presigned URL
  bool has_session_token = false;

  SignatureFields() = default;
  SignatureFields(SignatureFields&&) = default;
  SignatureFields& operator=(SignatureFields&&) = delete;
};

bool has_query_signature(const QueryParameters& query);
SignatureFields fields_from_header(const http::Request& request, QueryParameters query);
SignatureFields fields_from_query(QueryParameters query);

// keyid/date/region/service/terminator
struct Credential {
  std::string_view key_id;
  std::string_view date;
  std::string_view region;
  std::string_view service;
  std::string_view terminator;
};

// nullopt unless it has five elements. Views into the text.
std::optional<Credential> parse_credential(std::string_view text);

// Names of headers: in lower case, sorted, each once.
class HeaderNames {
 public:
  explicit HeaderNames(std::string_view list);  // separated by semicolons
  HeaderNames(const HeaderNames&) = delete;
  HeaderNames& operator=(const HeaderNames&) = delete;

  const std::vector<std::string_view>& names() const { return names_; }
  bool contains(std::string_view name) const;

 private:
  std::string text_;
  std::vector<std::string_view> names_;
};

}  // namespace postino::wire
