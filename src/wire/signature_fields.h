// What a signed request says about its signature, wherever it says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http.h"

namespace postino::wire {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;  // decoded, in the order they were sent

QueryParameters parse_query(std::string_view query);

struct SignatureFields {
  bool in_query = false;  // a presigned URL
  QueryParameters query;  // of the request, with those of the signature
  std::string algorithm;  // what follows has been said as well; a part that is missing is empty
  std::string credential;
  std::string signed_headers;  // names, separated by semicolons
  std::string signature;       // hexadecimal
  std::string date;            // X-Amz-Date, or the Date header
  std::string expires;         // X-Amz-Expires of a presigned URL
  bool has_session_token = false;
};

bool has_query_signature(const QueryParameters& query);
SignatureFields fields_from_header(const net::Request& request, QueryParameters query);
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

// The names of signed headers: in lower case, sorted, each once.
std::vector<std::string> split_signed_headers(std::string_view list);

}  // namespace postino::wire
