// Where access keys come from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "signature/key_source.h"

namespace postino::remote {

struct ExpiringKeys {
  signature::AccessKeys keys;
  std::optional<base::TimePoint> expires;  // nullopt: never
};

// Safe to use from any thread.
class Credentials : public signature::KeySource {
 public:
  // For people: "profile prod of ~/.aws/credentials". It has no secret.
  virtual std::string describe() const = 0;
};

// Keys that stay as they are.
std::unique_ptr<Credentials> fixed_credentials(signature::AccessKeys keys);

}  // namespace postino::remote
