// Access keys as services and programs write them down. Pure code. No error repeats what was read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "remote/credentials/credentials.h"

namespace postino::remote {

// {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}, as containers and machines are told; also "Code", which is
// "Success" or why there are none.
base::Result<ExpiringKeys> parse_role_keys(std::string_view json);

// {"Version": 1, "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"}, as a credential_process prints it.
base::Result<ExpiringKeys> parse_process_keys(std::string_view json);

// The answer of the token service to AssumeRole and AssumeRoleWithWebIdentity, in XML.
base::Result<ExpiringKeys> parse_assumed_role(std::string_view xml);

// "ExpiredTokenException: the token has expired", from an answer of the token service that refuses something; empty
// when it does not say. A proxy may have answered.
std::string told_by_token_service(std::string_view xml);

// The words of a command: separated by blanks; quotation marks and backslashes work as in a shell, and nothing else
// does. invalid when a quotation mark is left open.
base::Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace postino::remote
