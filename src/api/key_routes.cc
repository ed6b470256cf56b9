// The keys that are in the store: made, listed, replaced, disabled and deleted.
#include <initializer_list>

#include "access/key_ring.h"
#include "api/protocol/credentials.h"
#include "api/routes/json_answer.h"
#include "api/routes/json_members.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

using access::KeyKind;
using access::KeyRights;
using access::StoredKey;
using Need = json::Fields::Need;

constexpr std::int64_t most_overlap_seconds = 90 * 86'400;
constexpr std::int64_t usual_overlap_seconds = 86'400;

base::Result<access::KeyRing*, Problem> keys_of(const Call& call) {
  if (call.services.keys == nullptr) return refuse(problems::no_keys, "The server keeps no keys in its store.");
  return call.services.keys;
}

template <class T>
base::Result<T, Problem> answered_by_keys(base::Result<T> answer) {
  if (!answer && answer.error().code == base::ErrorCode::conflict)
    return refuse(problems::key_refused, as_sentence(std::move(answer).error().message));
  return answered(std::move(answer), problems::key_not_found);
}

access::KeyChanger changer_of(const Caller& caller) {
  using access::AuditEvent;
  if (caller.name.empty()) return {"", AuditEvent::local};
  return {caller.name, caller.is_user ? AuditEvent::user : AuditEvent::api_key};
}

// Where no key is needed, a program of this machine can make the first one. It must not lock everybody out by it, nor
// get by it into DynamoDB's API, which may have keys already.
base::Result<void, Problem> check_first(const Call& call, const access::KeyRing& keys, const KeyRights* made) {
  if (!call.caller.name.empty()) return {};
  if (keys.guards_dynamodb())
    return refuse(problems::forbidden,
                  "DynamoDB's API has access keys, so a key is needed here: make the first API key with 'postino keys "
                  "init', while the server does not run.");
  if (made != nullptr && (made->kind != KeyKind::api || made->role != name_of(Role::operators) ||
                          !made->tenant.empty() || !made->customer.empty()))
    return refuse(problems::key_refused,
                  "From the first key on, nobody is let in without one: it must be an API key with the role operator, "
                  "and without a tenant.");
  return {};
}

void write_key(json::Writer& json, const StoredKey& key, base::TimePoint now) {
  const KeyRights& rights = key.rights;
  json.key("id").string(key.id);
  json.key("kind").string(access::name_of(rights.kind));
  json.key("name").string(rights.name);
  text_member(json, "role", rights.role);
  text_member(json, "tenant", rights.tenant);
  text_member(json, "customer", rights.customer);
  text_member(json, "policy", rights.policy);
  json.key("state").string(key.is_disabled ? "disabled" : key.has_expired(now) ? "expired" : "active");
  time_member(json, "created_at", key.created_at);
  text_member(json, "created_by", key.created_by);
  time_member(json, "expires_at", key.expires_at);
  time_member(json, "last_used_at", key.last_used_at);
  text_member(json, "replaced_by", key.replaced_by);
  if (rights.quota.requests_per_second > 0) json.key("requests_per_second").integer(rights.quota.requests_per_second);
  if (rights.quota.emails_per_day > 0) json.key("emails_per_day").integer(rights.quota.emails_per_day);
}

std::string key_json(const StoredKey& key, base::TimePoint now, const std::string& secret = "") {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  text_member(json, "secret", secret);
  write_key(json, key, now);
  json.end_object();
  return text;
}

// The rules about roles are those of keys in the settings.
void check_api_rights(json::Fields& fields, const KeyRights& rights) {
  const auto role = parse_role(rights.role);
  if (rights.role.empty()) return fields.refuse("role", "is required for an API key");
  if (!role)
    return fields.refuse("role", "must be customer, reader, sender, drafter, approver, auditor, agent or operator");
  if (*role == Role::customers && rights.customer.empty())
    fields.refuse("customer", "is required with the role customer");
  if (!rights.policy.empty()) fields.refuse("policy", "is for access keys alone");
}

void check_access_rights(json::Fields& fields, const KeyRights& rights) {
  if (!rights.role.empty()) fields.refuse("role", "is for API keys alone; a policy says what an access key may do");
  if (!rights.customer.empty()) fields.refuse("customer", "is for API keys alone");
  if (rights.quota.emails_per_day > 0) fields.refuse("emails_per_day", "is for API keys alone");
}

struct WantedKey {
  KeyRights rights;
  std::optional<base::TimePoint> expires_at;
};

// Elsewhere what is empty counts as absent. Here that would make a key with more rights than was meant, when a file or
// a variable is empty by mistake.
void refuse_empty(json::Fields& fields, json::Element object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto member = object.member(name);
    if (member && (member->is_null() || member->text() == ""))
      fields.refuse(name, "must not be empty; leave it out to make a key without it");
  }
}

base::Result<WantedKey, Problem> read_wanted(const Call& call) {
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  json::Fields fields(document.root(), "", errors);
  refuse_empty(fields, document.root(),
               {"kind", "role", "tenant", "customer", "policy", "requests_per_second", "emails_per_day", "expires_at"});
  WantedKey wanted;
  KeyRights& rights = wanted.rights;
  const auto text_of = [&](std::string_view name, Need need, std::size_t most) {
    return std::string(fields.text(name, need, most).value_or(""));
  };
  rights.name = text_of("name", Need::required, access::KeyLimits::name);
  const std::string kind = text_of("kind", Need::optional, access::KeyLimits::name);
  if (!kind.empty() && !access::parse_key_kind(kind)) fields.refuse("kind", "must be api_key or access_key");
  rights.kind = access::parse_key_kind(kind).value_or(KeyKind::api);
  rights.role = text_of("role", Need::optional, access::KeyLimits::name);
  rights.tenant = text_of("tenant", Need::optional, access::KeyLimits::name);
  rights.customer = text_of("customer", Need::optional, access::KeyLimits::name);
  rights.policy = text_of("policy", Need::optional, access::KeyLimits::policy);
  rights.quota.requests_per_second =
      fields.integer("requests_per_second", Need::optional, 1, access::KeyLimits::requests_per_second).value_or(0);
  rights.quota.emails_per_day =
      fields.integer("emails_per_day", Need::optional, 1, access::KeyLimits::emails_per_day).value_or(0);
  wanted.expires_at = fields.time("expires_at", Need::optional);
  rights.kind == KeyKind::api ? check_api_rights(fields, rights) : check_access_rights(fields, rights);
  fields.refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return wanted;
}

Outcome create_key(Call& call) {
  TRY(access::KeyRing * keys, keys_of(call));
  TRY(const WantedKey wanted, read_wanted(call));
  TRY_VOID(check_first(call, *keys, &wanted.rights));
  TRY(const access::MadeKey made,
      answered_by_keys(keys->create(wanted.rights, wanted.expires_at, changer_of(call.caller))));
  return json_reply(key_json(made.key, call.services.clock.now(), made.secret), 201);
}

Outcome list_keys(Call& call) {
  TRY(access::KeyRing * keys, keys_of(call));
  const base::TimePoint now = call.services.clock.now();
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("data").begin_array();
  for (const StoredKey& key : keys->list()) {
    json.begin_object();
    write_key(json, key, now);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json_reply(std::move(text));
}

Outcome rotate_key(Call& call) {
  TRY(access::KeyRing * keys, keys_of(call));
  TRY_VOID(check_first(call, *keys, nullptr));
  std::int64_t overlap = usual_overlap_seconds;
  if (!call.request.body.empty()) {
    json::FieldErrors errors;
    json::Document document;
    if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
    json::Fields fields(document.root(), "", errors);
    overlap =
        fields.integer("overlap_seconds", Need::optional, 0, most_overlap_seconds).value_or(usual_overlap_seconds);
    fields.refuse_others();
    if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  }
  TRY(const access::MadeKey made,
      answered_by_keys(
          keys->replace(call.path_parameter("key"), std::chrono::seconds(overlap), changer_of(call.caller))));
  return json_reply(key_json(made.key, call.services.clock.now(), made.secret), 201);
}

Outcome set_key_disabled(const Call& call, bool is_disabled) {
  TRY(access::KeyRing * keys, keys_of(call));
  TRY_VOID(check_first(call, *keys, nullptr));
  TRY_VOID(call.no_fields());
  TRY(const StoredKey changed,
      answered_by_keys(keys->set_disabled(call.path_parameter("key"), is_disabled, changer_of(call.caller))));
  return json_reply(key_json(changed, call.services.clock.now()));
}

Outcome begin_key_session(Call& call) {
  TRY(access::KeyRing * keys, keys_of(call));
  TRY_VOID(check_first(call, *keys, nullptr));
  using Limits = access::TemporaryKeyLimits;
  std::int64_t seconds = Limits::usual_life / std::chrono::seconds(1);
  std::string policy;
  if (!call.request.body.empty()) {
    json::FieldErrors errors;
    json::Document document;
    if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
    json::Fields fields(document.root(), "", errors);
    seconds = fields
                  .integer("duration_seconds", Need::optional, Limits::shortest_life / std::chrono::seconds(1),
                           Limits::longest_life / std::chrono::seconds(1))
                  .value_or(seconds);
    refuse_empty(fields, document.root(), {"duration_seconds", "policy"});
    policy = fields.text("policy", Need::optional, Limits::policy).value_or("");
    fields.refuse_others();
    if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  }
  TRY(const access::KeyStore::Session session,
      answered_by_keys(keys->begin_session(call.path_parameter("key"), std::chrono::seconds(seconds), policy,
                                           changer_of(call.caller))));
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("access_key_id").string(session.key.id);
  json.key("secret_access_key").string(session.key.secret);
  json.key("session_token").string(session.token);
  time_member(json, "expires_at", session.key.expires_at);
  json.end_object();
  return json_reply(std::move(text), 201);
}

Outcome disable_key(Call& call) { return set_key_disabled(call, true); }
Outcome enable_key(Call& call) { return set_key_disabled(call, false); }

Outcome delete_key(Call& call) {
  TRY(access::KeyRing * keys, keys_of(call));
  TRY_VOID(check_first(call, *keys, nullptr));
  TRY_VOID(answered_by_keys(keys->remove(call.path_parameter("key"), changer_of(call.caller))));
  return no_content();
}

Parameter key_parameter() {
  return {"key", ParameterPlace::path, {.type = "string", .description = "The id of the key."}};
}

constexpr std::string_view no_such_key = "There is no such key, or the server keeps none (NO_KEYS).";
constexpr std::string_view state_forbids = "The state of the keys does not allow this.";

std::vector<Route> key_making_routes() {
  return {
      {.operation = {.id = "createKey",
                     .method = "POST",
                     .path = "/keys",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "Make a key for the REST API or for DynamoDB's API",
                     .description =
                         "The secret is shown only here. There is no Idempotency-Key, because an answer that "
                         "is kept would have the secret in it: who has lost the answer deletes the key.",
                     .body = {{{json_content_type, "NewKey"}}, true},
                     .answers = {{201, "The key, with its secret.", {{json_content_type, "MadeKey"}}},
                                 {404, "The server keeps no keys (NO_KEYS)."},
                                 {409, state_forbids}}},
       .handle = create_key,
       .shared = true,
       .own_keys = true},
      {.operation = {.id = "rotateKey",
                     .method = "POST",
                     .path = "/keys/{key}/rotate",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "Make another key with the same rights",
                     .description =
                         "The earlier one goes on for a while, so that its holders can be given the new one. "
                         "Two keys of a name can count at a time.",
                     .parameters = {key_parameter()},
                     .body = {{{json_content_type, "KeyRotation"}}, false},
                     .answers = {{201, "The new key, with its secret.", {{json_content_type, "MadeKey"}}},
                                 {404, no_such_key},
                                 {409, state_forbids}}},
       .handle = rotate_key,
       .shared = true,
       .own_keys = true},
  };
}

Route key_session_route() {
  return {.operation = {.id = "beginKeySession",
                        .method = "POST",
                        .path = "/keys/{key}/sessions",
                        .right = Right::operate,
                        .group = "Keys",
                        .summary = "Make a temporary access key of an access key",
                        .description =
                            "With a shorter life and perhaps fewer rights: what its policy allows, and the policy of "
                            "the key as well. It ends with the key. Sessions of API keys begin with POST /sessions.",
                        .parameters = {key_parameter()},
                        .body = {{{json_content_type, "NewKeySession"}}, false},
                        .answers = {{201, "The temporary key.", {{json_content_type, "KeySession"}}},
                                    {404, no_such_key},
                                    {409, state_forbids}}},
          .handle = begin_key_session,
          .shared = true,
          .own_keys = true};
}

std::vector<Route> key_change_routes() {
  return {
      {.operation = {.id = "listKeys",
                     .method = "GET",
                     .path = "/keys",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "List the keys in the store",
                     .description = "Without those in the settings, and without secrets.",
                     .answers = {{200, "The keys.", {{json_content_type, "Keys"}}},
                                 {404, "The server keeps no keys (NO_KEYS)."}}},
       .handle = list_keys,
       .shared = true},
      {.operation = {.id = "disableKey",
                     .method = "POST",
                     .path = "/keys/{key}/disable",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "Let a key not count any more, until it is enabled",
                     .description = "It is refused from now on by this server, and within seconds by others that share "
                                    "the store. Sessions that were begun with it end.",
                     .parameters = {key_parameter()},
                     .answers = {{200, "The key.", {{json_content_type, "Key"}}}, {404, no_such_key}}},
       .handle = disable_key,
       .shared = true},
      {.operation = {.id = "enableKey",
                     .method = "POST",
                     .path = "/keys/{key}/enable",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "Let a disabled key count again",
                     .parameters = {key_parameter()},
                     .answers = {{200, "The key.", {{json_content_type, "Key"}}},
                                 {404, no_such_key},
                                 {409, state_forbids}}},
       .handle = enable_key,
       .shared = true},
      {.operation = {.id = "deleteKey",
                     .method = "DELETE",
                     .path = "/keys/{key}",
                     .right = Right::operate,
                     .group = "Keys",
                     .summary = "Delete a key",
                     .parameters = {key_parameter()},
                     .answers = {{204, "It is gone."}, {404, no_such_key}}},
       .handle = delete_key,
       .shared = true},
  };
}

}  // namespace

std::vector<Route> key_routes() {
  std::vector<Route> routes = key_making_routes();
  routes.push_back(key_session_route());
  for (Route& route : key_change_routes()) routes.push_back(std::move(route));
  return routes;
}

}  // namespace postino::api
