// Who may call: API keys and users with roles and tenants or, where there are none, programs on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "access/sessions.h"
#include "api/protocol/credentials.h"
#include "api/protocol/problem.h"
#include "http/message.h"
#include "http/origin_policy.h"

namespace postino::api {

// Whose session a caller's is.
access::Session session_of(const Caller& caller);

// API keys of the store.
struct StoredApiKeys {
  std::vector<ApiKey> keys = {};  // in the order of ids
  // There was a key once, so callers need one.
  bool is_closed = false;
  const base::Clock* clock = nullptr;  // must outlive who has them; there is one if there are keys
};

// Safe to use from any thread.
class Access {
 public:
  // The origin policy is what counts where there are neither keys nor users. The sessions must outlive it; without them
  // no token counts.
  explicit Access(std::vector<ApiKey> keys, http::OriginPolicy origin_policy = {}, std::vector<User> users = {},
                  access::Sessions* sessions = nullptr, StoredApiKeys stored = {})
      : keys_(std::move(keys)),
        users_(std::move(users)),
        stored_(std::move(stored)),
        origin_policy_(std::move(origin_policy)),
        sessions_(sessions) {}

  // The caller lives as long as this object. `shared`: the request is about what belongs to no single tenant. `known`
  // is set to who calls also when that is refused, if the key is one.
  base::Result<const Caller*, Problem> check(const http::Request& request, Right needed, bool shared,
                                             const Caller** known = nullptr) const;

  // Is there neither a key nor a user, and was there none in the store?
  bool is_open() const { return keys_.empty() && users_.empty() && !stored_.is_closed; }
  // The time that it takes tells nothing of a secret. nullptr: none, or one that has expired.
  const ApiKey* find_key(std::string_view secret) const;
  const User* find_user(std::string_view name) const;
  const std::vector<User>& users() const { return users_; }
  // Users and API keys of this name.
  std::vector<Caller> named(std::string_view name) const;
  // Whose sessions count: all users and API keys, with their credentials.
  std::vector<access::Session> holders() const;

 private:
  base::Result<const Caller*, Problem> check_origin(const http::Request& request) const;
  base::Result<const Caller*, Problem> check_key(const http::Request& request) const;
  base::Result<const Caller*, Problem> find_holder(std::string_view token) const;  // nullptr: of none
  const ApiKey* find_configured(std::string_view secret) const;
  const ApiKey* find_stored(std::string_view secret) const;  // also one that has expired
  bool has_expired(const ApiKey& key) const { return key.expires_at && *key.expires_at <= stored_.clock->now(); }
  const Caller* note_use(const ApiKey& key) const;

  const std::vector<ApiKey> keys_;
  const std::vector<User> users_;
  const StoredApiKeys stored_;
  const http::OriginPolicy origin_policy_;
  access::Sessions* const sessions_;
};

}  // namespace postino::api
