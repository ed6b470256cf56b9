// The shapes of what is said about sessions and the audit.
#include "access/password.h"
#include "access/stored_key.h"
#include "access/temporary_key.h"
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

std::vector<Property> key_properties() {
  return {
      {"id", text("Id of the key. That of an access key is what signatures name; that of an API key is no secret."),
       required},
      {"kind", {.type = "string", .choices = {"api_key", "access_key"}}, required},
      {"name", text("Who has it."), required},
      {"role", text("The role of an API key.")},
      {"tenant", text("The tenant that it belongs to, if any.")},
      {"customer", text("The one customer that an API key belongs to, if any.")},
      {"policy", text("What an access key may do, in IAM's JSON. Without one, it may do everything.")},
      {"state",
       {.type = "string", .description = "Only an active one counts.", .choices = {"active", "disabled", "expired"}},
       required},
      {"created_at", time(), required},
      {"created_by", text("The name of the caller who has made it.")},
      {"expires_at", time("When it does not count any more.")},
      {"last_used_at", time("When it was used last, to the minute.")},
      {"replaced_by", text("The id of the key that was made in its place.")},
      {"requests_per_second", count("How many requests a second its holder may make. Absent: any number.")},
      {"emails_per_day", count("How many e-mails a day its holder may hand in. Absent: any number.")}};
}

Schema new_key_schema() {
  const auto name = [](std::string description) {
    return Schema{.type = "string", .description = std::move(description), .most = limit_of(access::KeyLimits::name)};
  };
  return {
      .type = "object",
      .example = R"({"name":"shop","role":"sender"})",
      .properties = {{"name", name("Who has it. Keys of one name and kind belong to one holder."), required},
                     {"kind",
                      {.type = "string",
                       .description = "Of the REST API, or of DynamoDB's API.",
                       .choices = {"api_key", "access_key"},
                       .default_value = R"("api_key")"}},
                     {"role", name("The role of an API key, which must have one.")},
                     {"tenant", name("The tenant that it belongs to.")},
                     {"customer", name("The one customer that an API key belongs to.")},
                     {"policy",
                      {.type = "string",
                       .description = "What an access key may do, in IAM's JSON. Without one, it may do everything.",
                       .most = limit_of(access::KeyLimits::policy)}},
                     {"expires_at", time("When it does not count any more. Without it, it does not expire.")},
                     {"requests_per_second",
                      {.type = "integer",
                       .description = "How many requests a second its holder may make, all keys together.",
                       .least = 1,
                       .most = access::KeyLimits::requests_per_second}},
                     {"emails_per_day",
                      {.type = "integer",
                       .description = "How many e-mails a day its holder may hand in with POST /emails. A day "
                                      "begins at 00:00 UTC.",
                       .least = 1,
                       .most = access::KeyLimits::emails_per_day}}},
      .closed = true};
}

Schema made_key_schema() {
  Schema schema{.type = "object", .properties = key_properties()};
  schema.properties.insert(
      schema.properties.begin(),
      {"secret", text("Of an API key: send it as Authorization: Bearer SECRET. Of an access key: sign with it."),
       required});
  return schema;
}

Schema key_rotation_schema() {
  constexpr std::int64_t days = 86'400;
  return {.type = "object",
          .properties = {{"overlap_seconds",
                          {.type = "integer",
                           .description = "How long the earlier key counts beside the new one.",
                           .least = 0,
                           .most = 90 * days,
                           .default_value = "86400"}}},
          .closed = true};
}

Schema new_key_session_schema() {
  using Limits = access::TemporaryKeyLimits;
  return {.type = "object",
          .properties = {{"duration_seconds",
                          {.type = "integer",
                           .description = "How long it counts.",
                           .least = Limits::shortest_life / std::chrono::seconds(1),
                           .most = Limits::longest_life / std::chrono::seconds(1),
                           .default_value = "3600"}},
                         {"policy",
                          {.type = "string",
                           .description = "What it may do of what the key may, in IAM's JSON. Without one, all of it.",
                           .most = limit_of(Limits::policy)}}},
          .closed = true};
}

Schema key_session_schema() {
  return {.type = "object",
          .properties = {{"access_key_id", text("What signatures name."), required},
                         {"secret_access_key", text("What requests are signed with."), required},
                         {"session_token", text("What is sent with each request, in X-Amz-Security-Token."), required},
                         {"expires_at", time("When it does not count any more."), required}}};
}

}  // namespace

std::vector<NamedSchema> key_schemas() {
  return {{"NewKey", new_key_schema()},
          {"MadeKey", made_key_schema()},
          {"KeyRotation", key_rotation_schema()},
          {"NewKeySession", new_key_session_schema()},
          {"KeySession", key_session_schema()},
          {"Key", {.type = "object", .properties = key_properties()}},
          {"Keys", {.type = "object", .properties = {{"data", list_of(like("Key")), required}}}}};
}

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
