// What can be configured about who may call both APIs: names of this server, web pages, proxies, the metrics,
// and policies.
#pragma once

#include "app/settings/policy_settings.h"
#include "http/origin_policy.h"

namespace postino::app {

struct AccessSettings {
  http::OriginPolicyOptions origin_policy;
  bool metrics_require_key = false;
  PolicySettings policies;  // of DynamoDB's API
};

}  // namespace postino::app
