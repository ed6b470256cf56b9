// What can be configured about who may call both APIs: names of this server, web pages, proxies, and the metrics.
#pragma once

#include "http/border.h"

namespace postino::app {

struct AccessSettings {
  http::BorderOptions border;
  bool metrics_require_key = false;
};

}  // namespace postino::app
