// What can be configured about the keys in the store.
#pragma once

#include <string>

#include "access/key_ring.h"

namespace postino::app {

struct KeySettings {
  bool off = false;
  std::string table = "postino-keys";
  access::TenantQuotas tenant_quotas;
  std::string sealing_key;  // the file; empty: beside the data, where the store is embedded
};

}  // namespace postino::app
