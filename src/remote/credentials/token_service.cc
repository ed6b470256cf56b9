#include "remote/credentials/token_service.h"

#include <string_view>

#include "base/text.h"
#include "remote/credentials/credential_calls.h"
#include "remote/credentials/key_answers.h"

namespace postino::remote {

namespace {

constexpr std::string_view sts_version = "2011-06-15";

void append_parameter(std::string& form, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!form.empty()) form += '&';
  form.append(name).append("=").append(base::encode_percent(value));
}

std::string role_form(std::string_view action, const AssumedRole& role) {
  std::string form;
  append_parameter(form, "Action", action);
  append_parameter(form, "Version", sts_version);
  append_parameter(form, "RoleArn", role.arn);
  append_parameter(form, "RoleSessionName", role.session_name.empty() ? "postino" : role.session_name);
  append_parameter(form, "ExternalId", role.external_id);
  if (role.seconds) append_parameter(form, "DurationSeconds", std::to_string(*role.seconds));
  return form;
}

http::ClientRequest sts_request(net::Url url, std::string form) {
  return {"POST",
          std::move(url),
          {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}, {"Accept", "text/xml"}},
          std::move(form)};
}

base::Result<ExpiringKeys> keys_of_role(const CredentialSurroundings& surroundings, const AssumedRole& role,
                                        const http::ClientRequest& request) {
  TRY(const http::ClientResponse answer, ask_source(surroundings, request));
  if (answer.status != 200) {
    const std::string told = told_by_token_service(answer.body);
    return base::fail(base::ErrorCode::io, "the token service has refused the role " + role.arn + " with " +
                                               std::to_string(answer.status) + (told.empty() ? "" : " " + told));
  }
  TRY(ExpiringKeys keys, parse_assumed_role(answer.body));
  return by_our_clock(std::move(keys), answer, *surroundings.clock);
}

}  // namespace

base::Result<net::Url> token_service_of(const CredentialSurroundings& surroundings) {
  if (const std::string given = surroundings.value_of("AWS_ENDPOINT_URL_STS"); !given.empty())
    return net::Url::parse(given);
  const std::string& region = surroundings.region;
  return net::Url::parse("https://sts." + region +
                         (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com"));
}

base::Result<ExpiringKeys> assume_role(const CredentialSurroundings& surroundings, const AssumedRole& role,
                                       const signature::AccessKeys& keys) {
  TRY(net::Url url, token_service_of(surroundings));
  http::ClientRequest request = sts_request(std::move(url), role_form("AssumeRole", role));
  signature::sign_request(request, keys, {surroundings.region, "sts"}, surroundings.clock->now());
  return keys_of_role(surroundings, role, request);
}

base::Result<ExpiringKeys> assume_role_with_token(const CredentialSurroundings& surroundings, const AssumedRole& role,
                                                  const std::string& token_file) {
  TRY(const std::string token, read_small_file(token_file, 64 << 10));
  TRY(net::Url url, token_service_of(surroundings));
  std::string form = role_form("AssumeRoleWithWebIdentity", role);
  append_parameter(form, "WebIdentityToken", base::trim(token));
  return keys_of_role(surroundings, role, sts_request(std::move(url), std::move(form)));
}

}  // namespace postino::remote
