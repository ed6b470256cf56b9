// What can be configured about a store on other machines: Amazon DynamoDB, or what speaks its protocol.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/url.h"

namespace postino::app {

enum class StoreKind { embedded, dynamodb };

struct RemoteSettings {
  std::string endpoint;          // a URL; empty: that of the region
  std::string streams_endpoint;  // the same of its change streams; empty: that of the region, or `endpoint`
  std::string region;            // empty: that which ARNs have
  std::string key_id;            // empty: keys are found as AWS's own programs find them
  std::string secret;
  std::string profile;                                    // of AWS's files; empty: the usual one
  std::string ca;                                         // authorities to trust (PEM) instead of the system's
  base::Milliseconds timeout = std::chrono::seconds(10);  // of a call, with all attempts
};

struct RemoteEndpoints {
  net::Url data;
  net::Url streams;
};

// Where the store of these settings is. They must have been checked.
base::Result<RemoteEndpoints> endpoints_of(const RemoteSettings& settings);

// Rules that concern several settings.
base::Result<void> check(const RemoteSettings& settings);

}  // namespace postino::app
