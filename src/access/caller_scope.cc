#include "access/caller_scope.h"

namespace postino::access {

thread_local const CallerScope* CallerScope::current_ = nullptr;

void CallerScope::check(std::string_view tenant) { check(tenant, std::nullopt); }

void CallerScope::check(std::string_view tenant, const std::optional<std::string>& customer) {
  if (current_ == nullptr) return;
  if (!current_->tenant_.empty() && tenant != current_->tenant_)
    throw ScopeFault("a call of tenant " + current_->tenant_ + " asked for data of " +
                     (tenant.empty() ? "all tenants" : "another tenant"));
  if (!current_->customer_.empty() && customer != current_->customer_)
    throw ScopeFault("a call of one customer asked for data of " +
                     std::string(customer ? "another customer" : "all customers"));
}

}  // namespace postino::access
