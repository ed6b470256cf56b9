// Where access keys come from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "signature/request_signer.h"

namespace postino::remote {

struct ExpiringKeys {
  signature::AccessKeys keys;
  std::optional<base::TimePoint> expires;  // nullopt: never
};

// Safe to use from any thread.
class Credentials {
 public:
  virtual ~Credentials() = default;

  // The current ones. They are renewed before they expire; this may wait for their source, for a limited time.
  virtual base::Result<signature::AccessKeys> keys() = 0;
  // The service has refused the present keys as expired or unknown: the next keys() asks the source again, though not
  // more often than at a limited rate.
  virtual void refused() = 0;
  // For people: "profile prod of ~/.aws/credentials". It has no secret.
  virtual std::string describe() const = 0;
};

// Keys that stay as they are.
std::unique_ptr<Credentials> fixed_credentials(signature::AccessKeys keys);

}  // namespace postino::remote
