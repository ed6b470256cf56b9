// Who may call: AWS Signature Version 4, in the Authorization header or in the query of a presigned URL.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/key_policies.h"
#include "access/key_ring.h"
#include "access/temporary_key.h"
#include "base/clock.h"
#include "http/message.h"

namespace postino::wire {

struct AccessKey {
  std::string id;
  std::string secret;
  std::shared_ptr<const access::KeyPolicies> policies = nullptr;  // nullptr: it may do everything
  std::optional<base::TimePoint> expires_at = {};
  std::shared_ptr<access::KeyUse> use = nullptr;  // of a key in the store
  access::QuotaMeters quotas = {};
  access::Principal principal = {};  // of a key in the store, for the policies of its sessions
};
using KeyPoliciesPointer = std::shared_ptr<const access::KeyPolicies>;

// Opens a session token; an error when it is none.
using OpenToken = std::function<base::Result<access::TemporaryKey>(std::string_view token)>;

// Who has signed a request.
struct Signer {
  std::string key_id;                     // empty: signatures do not count; of a temporary key, what it was made from
  KeyPoliciesPointer policies = nullptr;  // nullptr: the key may do everything
  access::QuotaMeters quotas = {};
};

struct AuthenticationFailure {
  std::string type;  // the exception's name, for example "InvalidSignatureException"
  std::string message;
  std::string key = {};  // the id of the access key, if it is one: for the log

  friend bool operator==(const AuthenticationFailure& a, const AuthenticationFailure& b) {
    return a.type == b.type && a.message == b.message;
  }
};

class SigningKeys;
struct SignedCall;

// Safe to use from any thread.
class Authenticator {
 public:
  // Without keys any well-formed credential for the service is accepted, whatever its signature, date or region: that
  // is what local tools send. `keys_only` is for servers whose other callers need keys: without any, all are refused.
  // Without `open_token` no temporary key counts.
  Authenticator(std::vector<AccessKey> keys, std::shared_ptr<const base::Clock> clock, bool keys_only = false,
                OpenToken open_token = nullptr);
  ~Authenticator();
  Authenticator(Authenticator&&) noexcept;

  // nullopt when the request may proceed. The order of the checks and their words are DynamoDB's.
  std::optional<AuthenticationFailure> check(const http::Request& request, Signer* signer = nullptr) const {
    return check(request, Body::there, signer);
  }
  // The same as far as it can be told without the body.
  std::optional<AuthenticationFailure> check_headers(const http::Request& request) const {
    return check(request, Body::to_come, nullptr);
  }
  // Does it take any well-formed credential?
  bool is_open() const { return !strict_; }

 private:
  enum class Body { there, to_come };
  std::optional<AuthenticationFailure> check(const http::Request& request, Body body, Signer* signer) const;
  std::optional<AuthenticationFailure> check_time(const SignedCall& call) const;
  std::optional<AuthenticationFailure> check_scope(const SignedCall& call) const;
  std::optional<AuthenticationFailure> check_signature(const http::Request& request, const SignedCall& call, Body body,
                                                       Signer* signer) const;
  const AccessKey* find(std::string_view id) const;  // nullptr: there is none that counts
  // Of a call with a session token.
  base::Result<AccessKey, AuthenticationFailure> find_temporary(const SignedCall& call) const;

  std::vector<AccessKey> keys_;
  bool strict_;  // signatures count
  std::shared_ptr<const base::Clock> clock_;
  std::unique_ptr<SigningKeys> signing_keys_;
  OpenToken open_token_;
};

}  // namespace postino::wire
