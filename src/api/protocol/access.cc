#include "api/protocol/access.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace postino::api {

namespace {

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

tl::unexpected<Problem> challenge(const ProblemType& type, std::string detail, std::string error = "") {
  auto refusal = refuse(type, std::move(detail));
  refusal.value().headers.emplace_back("WWW-Authenticate", "Bearer realm=\"postino\"" + std::move(error));
  return refusal;
}

const ProblemType& refusal_problem(http::OriginPolicyRule rule) {
  switch (rule) {
    case http::OriginPolicyRule::host:
      return problems::foreign_host;
    case http::OriginPolicyRule::origin:
      return problems::foreign_origin;
    case http::OriginPolicyRule::forwarded:
      return problems::forwarded;
    case http::OriginPolicyRule::loopback:
      break;
  }
  return problems::loopback_only;
}

template <class Credential>
access::Session holder_of(const Credential& each) {
  access::Session holder = session_of(each.caller);
  holder.credential = credential_mark(each);
  return holder;
}

std::string kind_of(const Caller& caller) { return caller.is_user ? "the user" : "the API key"; }

}  // namespace

access::Session session_of(const Caller& caller) {
  access::Session session;
  session.user_id = caller.name;
  session.of_api_key = !caller.is_user;
  session.tenant = caller.tenant;
  session.customer = caller.customer;
  return session;
}

base::Result<const Caller*, Problem> Access::check(const http::Request& request, Right needed, bool shared,
                                                   const Caller** known) const {
  TRY(const Caller* caller, is_open() ? check_origin(request) : check_key(request));
  if (known != nullptr) *known = caller;
  if (!has_right(caller->role, needed))
    return refuse(problems::forbidden, "This request needs the role " + roles_with(needed, " or ") + "; " +
                                           kind_of(*caller) + " has the role " + std::string(name_of(caller->role)) +
                                           ".");
  if (!caller->customer.empty() && !is_about_one_customer(needed))
    return refuse(
        problems::forbidden,
        as_sentence(kind_of(*caller) + " belongs to one customer; this request needs one without a customer"));
  if (shared && !caller->tenant.empty())
    return refuse(problems::forbidden,
                  as_sentence(kind_of(*caller) + " belongs to a tenant; this request needs one without a tenant"));
  return caller;
}

base::Result<const Caller*, Problem> Access::check_origin(const http::Request& request) const {
  static const Caller local{"", Role::operators, "", "", false};
  if (auto refusal = origin_policy_.check(request))
    return refuse(refusal_problem(refusal->rule), std::move(refusal->message));
  return &local;
}

base::Result<const Caller*, Problem> Access::check_key(const http::Request& request) const {
  const std::string_view secret = presented_secret(request);
  if (secret.empty())
    return challenge(problems::unauthenticated, "Send the header Authorization: Bearer SECRET, or X-API-Key: SECRET.");
  if (const ApiKey* const key = find_key(secret)) return note_use(*key);
  constexpr const char* invalid = ", error=\"invalid_token\"";
  if (find_stored(secret) != nullptr) return challenge(problems::unauthenticated, "The API key has expired.", invalid);
  if (!access::Sessions::is_token(secret))
    return challenge(problems::unauthenticated, "The API key is unknown.", invalid);
  if (sessions_ == nullptr)
    return challenge(problems::unauthenticated, "Tokens of sessions do not count here. Send an API key.", invalid);
  TRY(const Caller* caller, find_holder(secret));
  if (caller == nullptr) return challenge(problems::session_ended, "Sign in again with POST /sessions.", invalid);
  return caller;
}

// The role and the rest are those of the settings now: nothing but the name comes from the session.
base::Result<const Caller*, Problem> Access::find_holder(std::string_view token) const {
  auto found = sessions_->find(token);
  if (!found) {
    auto refusal = refuse(problems::store_unavailable, "Sessions cannot be read now.");
    refusal.value().cause = std::move(found.error().message);
    return refusal;
  }
  if (!*found) return nullptr;
  const access::Session& session = **found;
  const auto holds = [&session](const auto& each) {
    return each.caller.name == session.user_id && each.caller.tenant == session.tenant &&
           each.caller.customer == session.customer && each.caller.is_user != session.of_api_key &&
           credential_mark(each) == session.credential;
  };
  if (const auto user = std::ranges::find_if(users_, holds); user != users_.end()) return &user->caller;
  if (const auto key = std::ranges::find_if(keys_, holds); key != keys_.end()) return &key->caller;
  if (const auto key = std::ranges::find_if(stored_.keys, holds); key != stored_.keys.end() && !has_expired(*key))
    return note_use(*key);
  sessions_->forget(session);  // it has ended, also if the settings have its holder again one day
  return nullptr;
}

std::vector<access::Session> Access::holders() const {
  std::vector<access::Session> holders;
  for (const User& user : users_) holders.push_back(holder_of(user));
  for (const ApiKey& key : keys_) holders.push_back(holder_of(key));
  for (const ApiKey& key : stored_.keys) holders.push_back(holder_of(key));
  return holders;
}

const User* Access::find_user(std::string_view name) const {
  const auto found = std::ranges::find_if(users_, [name](const User& user) { return user.caller.name == name; });
  return found == users_.end() ? nullptr : &*found;
}

std::vector<Caller> Access::named(std::string_view name) const {
  std::vector<Caller> found;
  if (const User* const user = find_user(name)) found.push_back(user->caller);
  for (const ApiKey& key : keys_)
    if (key.caller.name == name) found.push_back(key.caller);
  for (const ApiKey& key : stored_.keys)
    if (key.caller.name == name) found.push_back(key.caller);
  return found;
}

const ApiKey* Access::find_key(std::string_view secret) const {
  if (const ApiKey* const key = find_configured(secret)) return key;
  const ApiKey* const stored = find_stored(secret);
  return stored != nullptr && !has_expired(*stored) ? stored : nullptr;
}

// Takes the same time whichever key it is, and whether it is one.
const ApiKey* Access::find_configured(std::string_view secret) const {
  const std::string digest = base::sha256(secret);
  const ApiKey* found = nullptr;
  for (const ApiKey& key : keys_)
    if (CRYPTO_memcmp(key.digest.data(), digest.data(), digest.size()) == 0) found = &key;
  return found;
}

// The time may tell whether there is such an id, which is no secret.
const ApiKey* Access::find_stored(std::string_view secret) const {
  const std::optional<std::string> id = stored_.keys.empty() ? std::nullopt : access::id_in_secret(secret);
  if (!id) return nullptr;
  const auto key = std::ranges::lower_bound(stored_.keys, *id, {}, &ApiKey::id);
  if (key == stored_.keys.end() || key->id != *id) return nullptr;
  const std::string hash = access::hash_of_secret(*id, secret);
  if (key->digest.size() != hash.size()) return nullptr;
  return CRYPTO_memcmp(key->digest.data(), hash.data(), hash.size()) == 0 ? &*key : nullptr;
}

const Caller* Access::note_use(const ApiKey& key) const {
  if (key.use) key.use->note(stored_.clock->now());
  return &key.caller;
}

}  // namespace postino::api
