// The shapes of what is said about sessions.
#include "access/password.h"
#include "api/protocol/credentials.h"
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

std::vector<Property> session_properties() {
  return {{"id", text("Id of the session; it gives no access."), required},
          {"name", text("Name of the user or the API key."), required},
          {"kind", {.type = "string", .choices = {"user", "api_key"}}, required},
          {"created_at", time(), required},
          {"expires_at", time("When it ends by itself."), required},
          {"signed_in_from", text("The address that the caller signed in from.")}};
}

Schema sign_in_schema() {
  return {
      .type = "object",
      .description = "Either user and password, or api_key.",
      .example = R"({"user":"anna","password":"correct horse battery"})",
      .properties = {{"user",
                      {.type = "string", .description = "Name of the user.", .most = limit_of(CredentialLimits::name)}},
                     {"password", {.type = "string", .most = limit_of(access::longest_password)}},
                     {"api_key",
                      {.type = "string",
                       .description = "The secret of an API key.",
                       .most = limit_of(CredentialLimits::secret)}}},
      .one_required = {"user", "api_key"},
      .closed = true};
}

Schema signed_in_schema() {
  Schema schema{.type = "object", .properties = session_properties()};
  schema.properties.insert(schema.properties.begin(),
                           {"token", text("Send it as Authorization: Bearer TOKEN."), required});
  schema.properties.push_back({"role", text("The role that the settings give to the caller now."), required});
  schema.properties.push_back({"tenant", text("The tenant that the caller belongs to, if any.")});
  schema.properties.push_back({"customer", text("The one customer that the caller belongs to, if any.")});
  return schema;
}

}  // namespace

std::vector<NamedSchema> session_schemas() {
  return {{"SignIn", sign_in_schema()},
          {"SignedIn", signed_in_schema()},
          {"Session", {.type = "object", .properties = session_properties()}},
          {"Sessions", {.type = "object", .properties = {{"data", list_of(like("Session")), required}}}}};
}

}  // namespace postino::api
