// Keys that may change while a program runs.
#pragma once

#include "base/result.h"
#include "signature/request_signer.h"

namespace postino::signature {

// Safe to use from any thread.
class KeySource {
 public:
  virtual ~KeySource() = default;

  // The current ones. They are renewed before they expire; this may wait for their source, for a limited time.
  virtual base::Result<AccessKeys> keys() = 0;
  // The service has refused the present keys as expired or unknown: the next keys() asks the source again, though not
  // more often than at a limited rate.
  virtual void refused() = 0;
};

}  // namespace postino::signature
