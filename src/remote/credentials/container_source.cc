#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "net/resolve.h"
#include "remote/credentials/credential_calls.h"
#include "remote/credentials/credential_source.h"
#include "remote/credentials/key_answers.h"

namespace postino::remote {

namespace {

class ContainerSource final : public CredentialSource {
 public:
  explicit ContainerSource(SharedSurroundings surroundings) : surroundings_(std::move(surroundings)) {}

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    http::ClientRequest request;
    if (const std::string relative = relative_address(); !relative.empty()) {
      if (!relative.starts_with('/'))
        return base::invalid("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must begin with a slash");
      TRY(request.url, net::Url::parse("http://" + surroundings_->container_host.authority() + relative));
    } else if (const std::string full = full_address(); !full.empty()) {
      TRY(request.url, net::Url::parse(full));
      TRY_VOID(check_host(request.url));
    } else {
      return std::nullopt;
    }
    TRY(const std::string token, authorization());
    request.headers.emplace_back("Accept", "application/json");
    if (!token.empty()) request.headers.emplace_back("Authorization", token);
    TRY(const http::ClientResponse answer, ask_source(*surroundings_, request));
    if (answer.status != 200)
      return base::fail(base::ErrorCode::io, request.url.authority() + " has answered " +
                                                 std::to_string(answer.status) + " instead of access keys");
    TRY(ExpiringKeys keys, parse_role_keys(answer.body));
    return by_our_clock(std::move(keys), answer, *surroundings_->clock);
  }

  std::string describe() const override { return "role of the container"; }

 private:
  std::string relative_address() const { return surroundings_->value_of("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); }
  std::string full_address() const { return surroundings_->value_of("AWS_CONTAINER_CREDENTIALS_FULL_URI"); }

  // The token must not go to just anybody in the clear: to this machine, or to the agents of containers, whose
  // addresses lead nowhere else.
  base::Result<void> check_host(const net::Url& url) const {
    constexpr std::array<std::string_view, 3> agents = {"169.254.170.2", "169.254.170.23", "fd00:ec2::23"};
    if (url.secure || std::ranges::find(agents, net::usual_form(url.host)) != agents.end()) return {};
    TRY(const std::vector<net::Address> addresses,
        net::resolve(url.host, url.port, net::deadline_in(surroundings_->call_time)));
    if (std::ranges::all_of(addresses, &net::Address::is_loopback)) return {};
    return base::invalid(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, or one of this machine or of an agent for "
        "containers");
  }

  // The file is read again each time, because tokens are replaced.
  base::Result<std::string> authorization() const {
    std::string token = surroundings_->value_of("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const std::string file = surroundings_->value_of("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
      TRY(const std::string text, read_small_file(file, 64 << 10));
      token = base::trim(text);
    }
    if (!std::ranges::all_of(token, base::is_printable_ascii))
      return base::invalid("the authorization token for the container's access keys has characters that none may have");
    return token;
  }

  const SharedSurroundings surroundings_;
};

}  // namespace

std::unique_ptr<CredentialSource> container_source(SharedSurroundings surroundings) {
  return std::make_unique<ContainerSource>(std::move(surroundings));
}

}  // namespace postino::remote
