// Access keys to sign requests with, and where they come from.
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

  // The current ones. They are renewed before they expire; then it may wait for their source, for a bounded time.
  virtual base::Result<signature::AccessKeys> keys() = 0;
  // The service refused the present keys as expired or unknown: the next keys() asks the source again, unless it did so
  // just now.
  virtual void refused() = 0;
  // For people: "profile prod of /home/anna/.aws/credentials". No secret.
  virtual std::string describe() const = 0;
};

std::unique_ptr<Credentials> fixed_credentials(signature::AccessKeys keys);

}  // namespace postino::remote
