// Whose tickets a caller may see and make. Decided here alone: what is not covered is answered like what does not
// exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postino::support {

struct Scope {
  std::string tenant = {};                                // empty: the company itself, which has no tenants
  std::optional<std::string> customer_id = std::nullopt;  // the one customer that the caller is bound to, if any

  // Within the tenant, whose items are the only ones that are read at all. A customer without a name is none.
  bool covers(std::string_view customer) const {
    return !customer_id || (!customer.empty() && *customer_id == customer);
  }
};

}  // namespace postino::support
