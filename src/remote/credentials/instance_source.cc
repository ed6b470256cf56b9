#include <algorithm>
#include <utility>

#include "base/text.h"
#include "remote/credentials/credential_calls.h"
#include "remote/credentials/credential_source.h"
#include "remote/credentials/key_answers.h"

namespace postino::remote {

namespace {

constexpr std::size_t longest_role = 256;
constexpr const char* roles_path = "/latest/meta-data/iam/security-credentials/";

bool is_role_letter(char letter) {
  return base::is_printable_ascii(letter) && letter != ' ' && letter != '/' && letter != '?' && letter != '#';
}

// Version 2 of the metadata service: every question needs a token, which only a program on the machine can get.
class InstanceSource final : public CredentialSource {
 public:
  explicit InstanceSource(SharedSurroundings surroundings) : surroundings_(std::move(surroundings)) {}

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    if (base::equal_ignoring_case(surroundings_->value_of("AWS_EC2_METADATA_DISABLED"), "true")) return std::nullopt;
    TRY(const std::string token, fetch_token());
    TRY(const http::ClientResponse roles, get(token, roles_path));
    if (roles.status == 404) return std::nullopt;  // the machine has no role
    TRY_VOID(check_status(roles));
    const std::string_view lines = base::trim(roles.body);
    const std::string role(lines.substr(0, lines.find('\n')));
    if (role.empty() || role.size() > longest_role || !std::ranges::all_of(role, is_role_letter))
      return base::fail(base::ErrorCode::corrupt, "the metadata service names no role");
    TRY(const http::ClientResponse answer, get(token, roles_path + role));
    TRY_VOID(check_status(answer));
    TRY(ExpiringKeys keys, parse_role_keys(answer.body));
    return by_our_clock(std::move(keys), answer, *surroundings_->clock);
  }

  std::string describe() const override { return "role of the machine"; }
  bool outlives_expiry() const override { return true; }

 private:
  base::Result<net::Url> address(const std::string& path) const {
    std::string endpoint = surroundings_->value_of("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (endpoint.empty())
      endpoint = base::equal_ignoring_case(surroundings_->value_of("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "ipv6")
                     ? "http://[fd00:ec2::254]"
                     : "http://169.254.169.254";
    while (endpoint.ends_with('/')) endpoint.pop_back();
    return net::Url::parse(endpoint + path);
  }

  base::Result<std::string> fetch_token() const {
    http::ClientRequest request{"PUT", {}, {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}}, ""};
    TRY(request.url, address("/latest/api/token"));
    TRY(http::ClientResponse answer, ask_source(*surroundings_, request));
    TRY_VOID(check_status(answer));
    if (answer.body.empty() || !std::ranges::all_of(answer.body, base::is_printable_ascii))
      return base::fail(base::ErrorCode::corrupt, "the metadata service has given no token");
    return std::move(answer.body);
  }

  base::Result<http::ClientResponse> get(const std::string& token, const std::string& path) const {
    http::ClientRequest request{"GET", {}, {{"X-aws-ec2-metadata-token", token}}, ""};
    TRY(request.url, address(path));
    return ask_source(*surroundings_, request);
  }

  static base::Result<void> check_status(const http::ClientResponse& answer) {
    if (answer.status == 200) return {};
    return base::fail(base::ErrorCode::io, "the metadata service has answered " + std::to_string(answer.status));
  }

  const SharedSurroundings surroundings_;
};

}  // namespace

std::unique_ptr<CredentialSource> instance_source(SharedSurroundings surroundings) {
  return std::make_unique<InstanceSource>(std::move(surroundings));
}

}  // namespace postino::remote
