// The shapes of what is said about sessions and the audit.
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

Schema audit_entry_schema() {
  return {.type = "object",
          .properties = {
              {"at", time("When it was written."), required},
              {"actor", text("Who: the name of a user or an API key, or the id of an access key.")},
              {"kind",
               {.type = "string",
                .description = "What `actor` is. local: a program on the server's machine, where no key is needed; "
                               "unknown: a caller without a right key or password; server: the server itself.",
                .choices = {"user", "api_key", "access_key", "local", "unknown", "server"}},
               required},
              {"tenant", text("The tenant of the caller.")},
              {"from", text("The address of the caller.")},
              {"action", text("The id of the operation; of DynamoDB's API, with dynamodb: in front."), required},
              {"subject", text("What it was done to: ids of the path, or a table.")},
              {"result",
               {.type = "string",
                .description = "allowed: it was about to be done; failed: it was not done after all; refused: the "
                               "caller may not do it.",
                .choices = {"allowed", "refused", "failed"}},
               required},
              {"detail", text("More about it, such as the code of the error.")},
              {"request_id", text("The X-Request-Id of the request, which the log has as well.")},
              {"chain", text("The chain of entries that it belongs to."), required},
              {"number", {.type = "integer", .description = "Its number in the chain.", .least = 1}, required}}};
}

Schema audit_verdict_schema() {
  const Schema fault{.type = "object",
                     .properties = {{"chain", text("The chain of entries.")},
                                    {"number", {.type = "integer", .description = "Of the entry.", .least = 1}},
                                    {"fault", text("What is wrong."), required}}};
  return {.type = "object",
          .properties = {{"intact", flag("Is everything as it was written?"), required},
                         {"entries", count("How many there are."), required},
                         {"heads",
                          list_of(text(),
                                  "The last entry of each chain, as CHAIN:NUMBER:DIGEST. Keep them elsewhere, and give "
                                  "them to the next verification."),
                          required},
                         {"faults", list_of(fault, "The first 100."), required}}};
}

}  // namespace

std::vector<NamedSchema> session_schemas() {
  return {{"SignIn", sign_in_schema()},
          {"SignedIn", signed_in_schema()},
          {"Session", {.type = "object", .properties = session_properties()}},
          {"Sessions", {.type = "object", .properties = {{"data", list_of(like("Session")), required}}}}};
}

std::vector<NamedSchema> audit_schemas() {
  return {{"AuditEntry", audit_entry_schema()},
          {"AuditEntryPage", page_of_records("AuditEntry")},
          {"AuditVerdict", audit_verdict_schema()}};
}

}  // namespace postino::api
