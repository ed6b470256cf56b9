// Signing in, and the sessions that there are.
#include "access/password.h"
#include "api/protocol/credentials.h"
#include "api/protocol/sign_ins.h"
#include "api/routes/route_groups.h"
#include "base/timestamp.h"

namespace postino::api {

namespace {

base::Result<SignIns*, Problem> sign_ins_of(const Call& call) {
  if (call.services.sign_ins == nullptr) return refuse(problems::no_sessions, "The server keeps no sessions.");
  return call.services.sign_ins;
}

void write_session(json::Writer& json, const access::Session& session) {
  json.key("id").string(session.id);
  json.key("name").string(session.user_id);
  json.key("kind").string(session.of_api_key ? "api_key" : "user");
  json.key("created_at").string(base::format_timestamp(session.created_at));
  json.key("expires_at").string(base::format_timestamp(session.expires_at));
  if (!session.from.empty()) json.key("signed_in_from").string(session.from);
}

std::string sessions_json(const std::vector<access::Session>& sessions) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("data").begin_array();
  for (const access::Session& session : sessions) {
    json.begin_object();
    write_session(json, session);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

std::string removal_json(int count) { return R"({"removed":)" + std::to_string(count) + "}"; }

std::string signed_in_json(const SignIns::SignedIn& signed_in) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("token").string(signed_in.token);
  write_session(json, signed_in.session);
  json.key("role").string(name_of(signed_in.caller.role));
  if (!signed_in.caller.tenant.empty()) json.key("tenant").string(signed_in.caller.tenant);
  if (!signed_in.caller.customer.empty()) json.key("customer").string(signed_in.caller.customer);
  json.end_object();
  return text;
}

Outcome sign_in(Call& call) {
  using Need = json::Fields::Need;
  TRY(SignIns * sign_ins, sign_ins_of(call));
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  json::Fields fields(document.root(), "", errors);
  const auto key = fields.text("api_key", Need::optional, CredentialLimits::secret);
  const Need need = key ? Need::optional : Need::required;
  const auto user = fields.text("user", need, CredentialLimits::name);
  const auto password = fields.text("password", need, access::longest_password);
  if (key && (user || password)) fields.refuse("api_key", "must not be given together with user and password");
  fields.refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  const std::string from = sign_ins->address_of(call.request);
  TRY(const SignIns::SignedIn signed_in,
      key ? sign_ins->with_key(std::string(*key), from)
          : sign_ins->with_password(std::string(*user), std::string(*password), from));
  return json_reply(signed_in_json(signed_in), 201);
}

Outcome list_own(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const std::vector<access::Session> sessions, sign_ins->list(call.caller));
  return json_reply(sessions_json(sessions));
}

tl::unexpected<Problem> refuse_unknown_session() {
  return refuse(problems::session_not_found, "No session that has not ended has this id.");
}

Outcome revoke_own(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const bool revoked, sign_ins->revoke(call.caller, call.path_parameter("session")));
  if (!revoked) return refuse_unknown_session();
  return no_content();
}

Outcome revoke_all_own(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const int count, sign_ins->revoke_all(call.caller));
  return json_reply(removal_json(count));
}

// The users and API keys that an operator's request names. There is one at least.
base::Result<std::vector<Caller>, Problem> named_callers(const Call& call, const SignIns& sign_ins) {
  std::vector<Caller> named = sign_ins.visible(call.path_parameter("user"), call.caller);
  if (named.empty()) return refuse(problems::user_not_found, "No user and no API key has this name.");
  return named;
}

Outcome list_of_user(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const std::vector<Caller> named, named_callers(call, *sign_ins));
  std::vector<access::Session> all;
  for (const Caller& each : named) {
    TRY(const std::vector<access::Session> sessions, sign_ins->list(each));
    all.insert(all.end(), sessions.begin(), sessions.end());
  }
  return json_reply(sessions_json(all));
}

Outcome revoke_of_user(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const std::vector<Caller> named, named_callers(call, *sign_ins));
  for (const Caller& each : named) {
    TRY(const bool revoked, sign_ins->revoke(each, call.path_parameter("session")));
    if (revoked) return no_content();
  }
  return refuse_unknown_session();
}

Outcome revoke_all_of_user(Call& call) {
  TRY(SignIns * sign_ins, sign_ins_of(call));
  TRY(const std::vector<Caller> named, named_callers(call, *sign_ins));
  int count = 0;
  for (const Caller& each : named) {
    TRY(const int of_each, sign_ins->revoke_all(each));
    count += of_each;
  }
  return json_reply(removal_json(count));
}

Parameter session_parameter() {
  return {"session", ParameterPlace::path, {.type = "string", .description = "The id of the session."}};
}

Parameter user_parameter() {
  return {"user", ParameterPlace::path, {.type = "string", .description = "The name of a user or of an API key."}};
}

constexpr std::string_view none_kept = "The server keeps no sessions (NO_SESSIONS).";

std::vector<Route> own_session_routes() {
  return {
      {.operation =
           {.id = "signIn",
            .method = "POST",
            .path = "/sessions",
            .right = Right::none,
            .group = "Sessions",
            .summary = "Sign in",
            .description =
                "With the name and the password of a user, or with an API key. The token is shown only here, and "
                "counts "
                "for 24 hours where an API key does. It has the role that the settings give to the user or the key "
                "at the time of each request, and ends when they give them another tenant or customer.",
            .body = {{{json_content_type, "SignIn"}}, true},
            .answers = {{201, "The session, with its token.", {{json_content_type, "SignedIn"}}},
                        {401, "User, password or API key are wrong."},
                        {404, "There are neither users nor API keys (NO_SESSIONS)."},
                        {429,
                         "Too many sign-ins with this name or from this address have failed. Retry-After "
                         "says when to try again."}}},
       .handle = sign_in,
       .own_keys = true},
      {.operation = {.id = "listOwnSessions",
                     .method = "GET",
                     .path = "/sessions",
                     .right = Right::own_sessions,
                     .group = "Sessions",
                     .summary = "List one's own sessions",
                     .description = "Those that have not ended, the newest first.",
                     .answers = {{200, "The sessions.", {{json_content_type, "Sessions"}}}, {404, none_kept}}},
       .handle = list_own},
      {.operation = {.id = "endOwnSessions",
                     .method = "DELETE",
                     .path = "/sessions",
                     .right = Right::own_sessions,
                     .group = "Sessions",
                     .summary = "End all of one's own sessions",
                     .answers = {{200, "How many there were.", {{json_content_type, "Removal"}}}, {404, none_kept}}},
       .handle = revoke_all_own,
       .audited = Audited::always},
      {.operation = {.id = "endOwnSession",
                     .method = "DELETE",
                     .path = "/sessions/{session}",
                     .right = Right::own_sessions,
                     .group = "Sessions",
                     .summary = "End one of one's own sessions",
                     .parameters = {session_parameter()},
                     .answers = {{204, "It has ended."}, {404, "There is no such session, or it has ended."}}},
       .handle = revoke_own,
       .audited = Audited::always},
  };
}

std::vector<Route> user_session_routes() {
  constexpr std::string_view no_user = "There is no such user or API key, or no such session.";
  return {
      {.operation = {.id = "listSessions",
                     .method = "GET",
                     .path = "/users/{user}/sessions",
                     .right = Right::operate,
                     .group = "Sessions",
                     .summary = "List the sessions of a user or an API key",
                     .description = "An operator of a tenant sees users and API keys of that tenant.",
                     .parameters = {user_parameter()},
                     .answers = {{200, "The sessions.", {{json_content_type, "Sessions"}}}, {404, no_user}}},
       .handle = list_of_user},
      {.operation = {.id = "endSessions",
                     .method = "DELETE",
                     .path = "/users/{user}/sessions",
                     .right = Right::operate,
                     .group = "Sessions",
                     .summary = "End all sessions of a user or an API key",
                     .parameters = {user_parameter()},
                     .answers = {{200, "How many there were.", {{json_content_type, "Removal"}}}, {404, no_user}}},
       .handle = revoke_all_of_user},
      {.operation = {.id = "endSession",
                     .method = "DELETE",
                     .path = "/users/{user}/sessions/{session}",
                     .right = Right::operate,
                     .group = "Sessions",
                     .summary = "End a session of a user or an API key",
                     .parameters = {user_parameter(), session_parameter()},
                     .answers = {{204, "It has ended."}, {404, no_user}}},
       .handle = revoke_of_user},
  };
}

}  // namespace

std::vector<Route> session_routes() {
  std::vector<Route> routes = own_session_routes();
  for (Route& route : user_session_routes()) routes.push_back(std::move(route));
  return routes;
}

}  // namespace postino::api
