// What can be configured about who may call both APIs: names of this server, web pages, proxies, and the metrics.
#pragma once

#include "http/origin_policy.h"

namespace postino::app {

struct AccessSettings {
  http::OriginPolicyOptions origin_policy;
  bool metrics_require_key = false;
};

}  // namespace postino::app
