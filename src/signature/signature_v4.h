// AWS Signature Version 4: from a request to what is signed, and from a secret to the signature. For those who sign and
// for those who check.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postino::signature {

inline constexpr std::string_view signature_algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view signature_terminator = "aws4_request";

using QueryParameters = std::vector<std::pair<std::string, std::string>>;  // decoded, in the order they were sent

QueryParameters parse_query(std::string_view query);

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

// What is signed of a request.
struct RequestParts {
  std::string_view method;
  std::string path;       // as the service has it: canonical_path(), or for S3 the path as it was sent
  QueryParameters query;  // without the signature itself
  std::vector<std::pair<std::string_view, std::string_view>> headers;
};

// The path of all services but S3: without empty, "." and ".." segments, and percent-encoded once more.
std::string canonical_path(std::string_view path);

// The request in the one form in which client and server see the same bytes.
std::string canonical_request(const RequestParts& request, const HeaderNames& signed_names,
                              std::string_view payload_hash);

// `date` as 20130609T100015Z.
std::string string_to_sign(std::string_view date, const Credential& credential, std::string_view canonical);

// The key for one day, region and service; 32 bytes.
std::string derive_signing_key(std::string_view secret, const Credential& credential);

// In hexadecimal.
std::string sign(std::string_view signing_key, std::string_view text);

}  // namespace postino::signature
