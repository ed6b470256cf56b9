// Who may call: API keys with roles and tenants or, where there are none, programs on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/problem.h"
#include "api/protocol/role.h"
#include "http/border.h"
#include "http/message.h"

namespace postino::api {

struct Caller {
  std::string name;  // of the key; empty where there are no keys
  Role role = Role::anyone;
  std::string tenant;    // whose e-mails the caller sees; empty: everybody's
  std::string customer;  // whose tickets alone the caller sees; empty: those of all customers
};

struct ApiKey {
  Caller caller;
  std::string digest;  // SHA-256 of the secret, which is not kept
};

// "NAME:ROLE:SECRET", where "@TENANT" and "/CUSTOMER" may follow the role. Fails with the rule that is broken, and
// never with the secret.
base::Result<ApiKey> parse_api_key(std::string_view text);

// Safe to use from any thread.
class Access {
 public:
  // The border is what counts where there are no keys.
  explicit Access(std::vector<ApiKey> keys, http::Border border = {})
      : keys_(std::move(keys)), border_(std::move(border)) {}

  // The caller lives as long as this object. `shared`: the request is about what belongs to no single tenant. `known`
  // is set to who calls also when that is refused, if the key is one.
  base::Result<const Caller*, Problem> check(const http::Request& request, Right needed, bool shared,
                                             const Caller** known = nullptr) const;

 private:
  base::Result<const Caller*, Problem> check_border(const http::Request& request) const;
  base::Result<const Caller*, Problem> check_key(const http::Request& request) const;
  const Caller* find(std::string_view secret) const;

  const std::vector<ApiKey> keys_;
  const http::Border border_;
};

}  // namespace postino::api
