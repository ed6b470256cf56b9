// Access keys as AWS's own programs find them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "net/shutdown_deadline.h"
#include "remote/credentials/credentials.h"

namespace postino::remote {

struct CredentialOptions {
  signature::AccessKeys keys;                                      // if given, no others are looked for
  std::string profile;                                             // if given, only this profile is looked for
  std::string region;                                              // whose token service is asked for roles
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no call outlasts it; may be null
  // Of the environment: nullopt when it is not set. Without a function it is that of the process.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::string container_host = "http://169.254.170.2";  // of the addresses that containers are given
};

// Looks for keys in this order: those given; the profile that was named; the environment; web identity; profile files;
// the role of the container; the role of the machine. The first place that has keys counts. Asks none of them yet.
// `clock` and `random` must outlive it.
base::Result<std::unique_ptr<Credentials>> find_credentials(CredentialOptions options, const base::Clock& clock,
                                                            base::Random& random);

}  // namespace postino::remote
