#include "api/protocol/access.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/text.h"

namespace postino::api {

namespace {

constexpr std::size_t least_secret_size = 16;
constexpr std::size_t most_secret_size = 512;
constexpr std::size_t most_name_size = 64;

bool is_name(std::string_view text) {
  const auto allowed = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '.' || each == '-';
  };
  return !text.empty() && text.size() <= most_name_size && std::ranges::all_of(text, allowed);
}

// It travels in a header.
bool is_secret(std::string_view text) {
  return text.size() >= least_secret_size && text.size() <= most_secret_size &&
         std::ranges::all_of(text, [](char each) { return each > ' ' && each < 0x7F; });
}

std::optional<Role> parse_role(std::string_view text) {
  for (const Role role : all_roles)
    if (text == name_of(role)) return role;
  return std::nullopt;
}

// Takes what stands before the separator from the front; nullopt when there is none.
std::optional<std::string_view> take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + 1);
  return taken;
}

// Empty when the request has none.
std::string_view presented_secret(const http::Request& request) {
  constexpr std::string_view scheme = "Bearer ";
  std::string_view value = request.header("authorization");
  if (value.size() > scheme.size() && base::equal_ignoring_case(value.substr(0, scheme.size()), scheme)) {
    value.remove_prefix(scheme.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
  }
  return request.header("x-api-key");
}

tl::unexpected<Problem> unauthenticated(std::string detail, const char* challenge) {
  auto refusal = refuse(problems::unauthenticated, std::move(detail));
  refusal.value().headers.emplace_back("WWW-Authenticate", challenge);
  return refusal;
}

const ProblemType& border_problem(http::BorderRule rule) {
  switch (rule) {
    case http::BorderRule::host:
      return problems::foreign_host;
    case http::BorderRule::origin:
      return problems::foreign_origin;
    case http::BorderRule::forwarded:
      return problems::forwarded;
    case http::BorderRule::loopback:
      break;
  }
  return problems::loopback_only;
}

// "ROLE", "ROLE@TENANT", "ROLE/CUSTOMER" or "ROLE@TENANT/CUSTOMER".
base::Result<void> parse_role_and_scope(std::string_view text, const std::string& whose, Caller& caller) {
  const std::string names = " must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'";
  if (const auto before = take_until(text, '/')) {
    if (!is_name(text)) return base::invalid("the customer of " + whose + names);
    caller.customer = text;
    text = *before;
  }
  if (const auto role_alone = take_until(text, '@')) {
    if (!is_name(text)) return base::invalid("the tenant of " + whose + names);
    caller.tenant = text;
    text = *role_alone;
  }
  const auto role = parse_role(text);
  if (!role)
    return base::invalid("the role of " + whose +
                         " must be customer, reader, sender, drafter, approver, auditor, agent or operator");
  caller.role = *role;
  if (caller.role == Role::customers && caller.customer.empty())
    return base::invalid("the role customer of " + whose + " must name the customer, as in customer/C-1001");
  return {};
}

}  // namespace

base::Result<ApiKey> parse_api_key(std::string_view text) {
  const auto name = take_until(text, ':');
  const auto role = name ? take_until(text, ':') : std::nullopt;
  if (!role) return base::invalid("an API key must be NAME:ROLE:SECRET or NAME:ROLE@TENANT/CUSTOMER:SECRET");
  ApiKey key;
  if (!is_name(*name))
    return base::invalid("the name of an API key must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'");
  key.caller.name = *name;
  const std::string whose = "API key " + key.caller.name;
  TRY_VOID(parse_role_and_scope(*role, whose, key.caller));
  if (!is_secret(text))
    return base::invalid("the secret of " + whose + " must have 16 to 512 printable ASCII characters, without spaces");
  key.digest = base::sha256(text);
  return key;
}

base::Result<const Caller*, Problem> Access::check(const http::Request& request, Right needed, bool shared,
                                                   const Caller** known) const {
  TRY(const Caller* caller, keys_.empty() ? check_border(request) : check_key(request));
  if (known != nullptr) *known = caller;
  if (!has_right(caller->role, needed))
    return refuse(problems::forbidden, "This request needs the role " + roles_with(needed, " or ") +
                                           "; the API key has the role " + std::string(name_of(caller->role)) + ".");
  if (!caller->customer.empty() && !is_about_one_customer(needed))
    return refuse(problems::forbidden,
                  "The API key belongs to one customer; this request needs an API key without a customer.");
  if (shared && !caller->tenant.empty())
    return refuse(problems::forbidden,
                  "The API key belongs to a tenant; this request needs an API key without a tenant.");
  return caller;
}

base::Result<const Caller*, Problem> Access::check_border(const http::Request& request) const {
  static const Caller local{"", Role::operators, "", ""};
  if (auto refusal = border_.check(request)) return refuse(border_problem(refusal->rule), std::move(refusal->message));
  return &local;
}

base::Result<const Caller*, Problem> Access::check_key(const http::Request& request) const {
  const std::string_view secret = presented_secret(request);
  if (secret.empty())
    return unauthenticated("Send the header Authorization: Bearer SECRET, or X-API-Key: SECRET.",
                           "Bearer realm=\"postino\"");
  const Caller* caller = find(secret);
  if (caller == nullptr)
    return unauthenticated("The API key is unknown.", "Bearer realm=\"postino\", error=\"invalid_token\"");
  return caller;
}

// Takes the same time whichever key it is, and whether it is one.
const Caller* Access::find(std::string_view secret) const {
  const std::string digest = base::sha256(secret);
  const Caller* found = nullptr;
  for (const ApiKey& key : keys_)
    if (CRYPTO_memcmp(key.digest.data(), digest.data(), digest.size()) == 0) found = &key.caller;
  return found;
}

}  // namespace postino::api
