// A place that access keys come from, and what such places need of the machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"
#include "remote/credentials/credentials.h"
#include "remote/credentials/program_runner.h"

namespace postino::remote {

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // Asks the source, and may wait for it, for a bounded time. nullopt: nothing says that there are keys at this place.
  // An error: there should be keys, and they could not be had. No error has a secret in it. One thread at a time.
  virtual base::Result<std::optional<ExpiringKeys>> fetch() = 0;
  // For people. Safe to call from any thread.
  virtual std::string describe() const = 0;
  // Does the source hand out keys again that were to expire, when it has trouble of its own? Such keys are used beyond
  // their time: the services know of it. Safe to call from any thread.
  virtual bool outlives_expiry() const { return false; }
};

// What sources need, so that tests can have it their own way.
struct CredentialSurroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;  // of the environment
  std::unique_ptr<http::Client> client;
  std::unique_ptr<ProgramRunner> programs;
  const base::Clock* clock = nullptr;
  std::string region;                          // whose token service is asked
  net::Url container_host;                     // of relative addresses that containers are given
  std::chrono::milliseconds call_time{5'000};  // to sources on the network

  // Empty when it is not set.
  std::string value_of(const std::string& name) const { return variable(name).value_or(""); }
};
using SharedSurroundings = std::shared_ptr<const CredentialSurroundings>;

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
std::unique_ptr<CredentialSource> environment_source(SharedSurroundings surroundings);
// AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME: a token in a file, exchanged for keys.
std::unique_ptr<CredentialSource> web_identity_source(SharedSurroundings surroundings);
// A profile of ~/.aws/credentials and ~/.aws/config, or of the files that AWS_SHARED_CREDENTIALS_FILE and
// AWS_CONFIG_FILE name. Without a name it is that of AWS_PROFILE, or else "default", which may be missing.
std::unique_ptr<CredentialSource> profile_source(SharedSurroundings surroundings, std::string name);
// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN
// or AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE.
std::unique_ptr<CredentialSource> container_source(SharedSurroundings surroundings);
// The role of the machine, which its metadata service tells, unless AWS_EC2_METADATA_DISABLED is true.
std::unique_ptr<CredentialSource> instance_source(SharedSurroundings surroundings);

// The first of them that has keys, and from then on only that one, for as long as it has some. One that should have
// keys and fails ends the search: the keys of another one may have other rights.
std::unique_ptr<CredentialSource> first_source(std::vector<std::unique_ptr<CredentialSource>> sources);

}  // namespace postino::remote
