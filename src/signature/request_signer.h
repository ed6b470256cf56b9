// Signs requests to AWS and to those who speak its protocols.
#pragma once

#include <string>

#include "base/clock.h"
#include "http/client.h"

namespace postino::signature {

struct AccessKeys {
  std::string id;
  std::string secret;
  std::string session_token;  // of temporary ones; empty otherwise
};

// Where a signature counts.
struct SigningScope {
  std::string region;   // "eu-west-1"
  std::string service;  // "s3", "dynamodb"
};

// Adds X-Amz-Date, X-Amz-Content-Sha256, X-Amz-Security-Token where there is one, and Authorization. All headers are
// signed, and the body. None may be added or changed afterwards; a request that is sent again later is signed again,
// from one without these headers. The query of the URL is percent-encoded, and its path, too: for S3 it is signed as it
// is.
void sign_request(http::ClientRequest& request, const AccessKeys& keys, const SigningScope& scope, base::TimePoint now);

}  // namespace postino::signature
