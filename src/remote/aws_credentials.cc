#include "remote/aws_credentials.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "remote/credentials/credential_source.h"
#include "remote/credentials/renewed_credentials.h"

namespace postino::remote {

namespace {

constexpr std::size_t largest_credential_answer = 256 << 10;

std::optional<std::string> process_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

base::Result<SharedSurroundings> surroundings_of(const CredentialOptions& options, const base::Clock& clock) {
  http::ClientOptions client;
  client.allow_private_addresses = true;  // agents of containers and machines are on such addresses
  client.max_response_bytes = largest_credential_answer;
  client.max_idle_connections = 4;
  client.shutdown_deadline = options.shutdown_deadline;
  auto surroundings = std::make_shared<CredentialSurroundings>();
  TRY(surroundings->client, http::Client::create(std::move(client)));
  TRY(surroundings->container_host, net::Url::parse(options.container_host));
  surroundings->variable = options.variable ? options.variable : process_variable;
  surroundings->programs = machine_programs();
  surroundings->clock = &clock;
  surroundings->region = options.region;
  return surroundings;
}

}  // namespace

base::Result<std::unique_ptr<Credentials>> find_credentials(CredentialOptions options, const base::Clock& clock,
                                                            base::Random& random) {
  if (!options.keys.id.empty()) return fixed_credentials(std::move(options.keys));
  TRY(const SharedSurroundings surroundings, surroundings_of(options, clock));
  std::vector<std::unique_ptr<CredentialSource>> sources;
  if (!options.profile.empty()) {
    sources.push_back(profile_source(surroundings, options.profile));
  } else {
    sources.push_back(environment_source(surroundings));
    sources.push_back(web_identity_source(surroundings));
    sources.push_back(profile_source(surroundings, ""));
    sources.push_back(container_source(surroundings));
    sources.push_back(instance_source(surroundings));
  }
  return std::make_unique<RenewedCredentials>(first_source(std::move(sources)), clock, random);
}

}  // namespace postino::remote
