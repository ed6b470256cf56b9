// Who may call: AWS Signature Version 4, in the Authorization header or in the query of a presigned URL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/http.h"

namespace postino::wire {

struct AccessKey {
  std::string id;
  std::string secret;
};

struct AuthenticationFailure {
  std::string type;  // the exception's name, for example "InvalidSignatureException"
  std::string message;

  friend bool operator==(const AuthenticationFailure&, const AuthenticationFailure&) = default;
};

class SigningKeys;
struct SignedCall;

// Safe to use from any thread.
class Authenticator {
 public:
  // Without keys any well-formed credential for the service is accepted, whatever its signature, date or region: that
  // is what local tools send.
  Authenticator(std::vector<AccessKey> keys, std::shared_ptr<const base::Clock> clock);
  ~Authenticator();
  Authenticator(Authenticator&&) noexcept;

  // nullopt when the request may proceed. The order of the checks and their words are DynamoDB's.
  std::optional<AuthenticationFailure> check(const net::Request& request) const;

 private:
  std::optional<AuthenticationFailure> check_time(const SignedCall& call) const;
  std::optional<AuthenticationFailure> check_scope(const SignedCall& call) const;
  std::optional<AuthenticationFailure> check_signature(const net::Request& request, const SignedCall& call) const;
  const AccessKey* find(std::string_view id) const;

  std::vector<AccessKey> keys_;
  std::shared_ptr<const base::Clock> clock_;
  std::unique_ptr<SigningKeys> signing_keys_;
};

}  // namespace postino::wire
