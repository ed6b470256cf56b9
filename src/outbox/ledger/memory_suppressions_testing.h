// A suppression list for tests, in memory.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.h"
#include "outbox/ledger/suppressions.h"

namespace postino::outbox {

// Finds what was added to the list of the same tenant.
class MemorySuppressions final : public SuppressionList {
 public:
  // From now on it cannot be asked.
  void fail() {
    const std::lock_guard lock(mutex_);
    is_out_of_order_ = true;
  }

  base::Result<void> add(const std::string& tenant, const Suppression& suppression) override {
    const std::lock_guard lock(mutex_);
    lists_[tenant].push_back(suppression);
    return {};
  }
  base::Result<std::vector<Suppression>> find(const std::string& tenant,
                                              const std::vector<std::string>& addresses) override {
    const std::lock_guard lock(mutex_);
    if (is_out_of_order_) return base::fail(base::ErrorCode::io, "the list is out of order");
    std::vector<Suppression> found;
    for (const Suppression& suppression : lists_[tenant])
      for (const std::string& address : addresses)
        if (base::equal_ignoring_case(address, suppression.address)) found.push_back(suppression);
    return found;
  }
  base::Result<bool> remove(const std::string& tenant, const std::string& address) override {
    const std::lock_guard lock(mutex_);
    return std::erase_if(lists_[tenant], [&](const Suppression& suppression) {
             return base::equal_ignoring_case(address, suppression.address);
           }) > 0;
  }
  base::Result<SuppressionPage> list(const std::string& tenant, const std::string& /*cursor*/, int /*limit*/) override {
    const std::lock_guard lock(mutex_);
    return SuppressionPage{lists_[tenant], ""};
  }
  base::Result<std::vector<std::string>> tenants() override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [tenant, suppressions] : lists_) names.push_back(tenant);
    return names;
  }

 private:
  std::mutex mutex_;
  bool is_out_of_order_ = false;
  std::map<std::string, std::vector<Suppression>> lists_;
};

}  // namespace postino::outbox
