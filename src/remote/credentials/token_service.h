// The Security Token Service: temporary keys of a role.
#pragma once

#include <optional>
#include <string>

#include "remote/credentials/credential_source.h"

namespace postino::remote {

struct AssumedRole {
  std::string arn;
  std::string session_name;  // empty: postino
  std::string external_id;   // what the role's owner asks for; may be empty
  std::optional<int> seconds;
};

// Where it is: AWS_ENDPOINT_URL_STS, or that of the region.
base::Result<net::Url> token_service_of(const CredentialSurroundings& surroundings);

// With keys that may take on the role.
base::Result<ExpiringKeys> assume_role(const CredentialSurroundings& surroundings, const AssumedRole& role,
                                       const signature::AccessKeys& keys);
// With the token of a web identity, read from this file again each time, because tokens are replaced.
base::Result<ExpiringKeys> assume_role_with_token(const CredentialSurroundings& surroundings, const AssumedRole& role,
                                                  const std::string& token_file);

}  // namespace postino::remote
