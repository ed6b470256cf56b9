// The suppression list: addresses that get no mail any more.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/email/email.h"

namespace postino::outbox {

struct SuppressionPage {
  std::vector<Suppression> suppressions;
  std::string cursor;  // empty at the end
};

// Each tenant has a list; that of the empty tenant holds for all. Addresses are compared without regard to case. Safe
// to call from any thread.
class SuppressionList {
 public:
  virtual ~SuppressionList() = default;

  virtual base::Result<void> add(const std::string& tenant, const Suppression& suppression) = 0;
  virtual base::Result<bool> remove(const std::string& tenant, const std::string& address) = 0;  // false: it was not in
  // Which of these get no mail from this tenant.
  virtual base::Result<std::vector<Suppression>> find(const std::string& tenant,
                                                      const std::vector<std::string>& addresses) = 0;
  // In the order of the addresses. invalid when the cursor is not one of ours.
  virtual base::Result<SuppressionPage> list(const std::string& tenant, const std::string& cursor, int limit) = 0;
  // The tenants whose list is not empty; the empty one among them.
  virtual base::Result<std::vector<std::string>> tenants() = 0;
};

}  // namespace postino::outbox
